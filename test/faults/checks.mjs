/**
 * The checks of the format, each a pure function from what is expected and what was seen to the differences.
 *
 * `seen` is what the host told (see `host.mjs`), and beside it: `printed` (its output), `journal` and `requests` (null
 * where the case has none), `orphans` (processes that outlived their time) and `endedAt`.
 */
import { callDifferences } from './call-checks.mjs';
import { anyOf, differs, short } from './difference.mjs';
import { countDifferences, gapDifferences, pingsOf, startsOf } from './event-counts.mjs';

const ESCAPES = ['\u001b', '\u009b'];

export function checkAll(checks, seen) {
  return Object.entries(checks).flatMap(([name, expected]) => CHECKS[name](expected, seen, checks));
}

export const CHECKS = {
  state: (expected, seen) => {
    const wanted = [expected].flat();
    const { state, why } = stateOf(seen);
    return differs(!wanted.includes(state), `state is ${state}${why}, wanted ${wanted.join(' or ')}`);
  },
  stateNot: (unwanted, seen) => {
    const { state } = stateOf(seen);
    return differs([unwanted].flat().includes(state), `state is ${state}`);
  },
  servers: (expected, { servers }) =>
    Object.entries(expected).flatMap(([name, wanted]) => {
      const { state, why } = stateOf({ servers: name in servers ? { [name]: servers[name] } : {} });
      return differs(state !== wanted, `${name} is ${state}${why}, wanted ${wanted}`);
    }),
  readyCount: (expected, { servers }) => {
    const all = Object.values(servers);
    const ready = all.filter(({ state }) => state === 'ready').length;
    return differs(ready !== expected, `${ready} of ${all.length} ready, wanted ${expected}`);
  },
  selfHeals: (expected, seen) => {
    const starts = startsOf(seen);
    return differs(starts > 1 !== expected, `it was started ${starts} time(s)`);
  },

  readyWithinMs: (limit, { servers }, checks) => {
    const named = Object.entries(checks.servers ?? {}).filter(([, state]) => state === 'ready');
    const wanted = named.length > 0 ? named.map(([name]) => name) : Object.keys(servers);
    return late(limit, servers, wanted, ['ready']);
  },
  failedWithinMs: (limit, { servers }) =>
    late(limit, servers, Object.keys(servers), ['failed', 'auth-required']),
  stopWithinMs: (limit, { stopMs }) =>
    differs(stopMs === null || stopMs > limit, `stop took ${stopMs} ms, wanted at most ${limit}`),

  tools: (expected, { list }) => listed(list, (tools) => exactly(expected, tools, 'tools')),
  toolsInclude: (expected, { list }) => listed(list, (tools) => includes(expected, tools, 'tools')),
  toolsExclude: (expected, { list }) =>
    listed(list, (tools) => {
      const unwanted = expected.filter((name) => tools.includes(name));
      return differs(unwanted.length > 0, `tools hold ${unwanted.join(', ')}`);
    }),
  registry: (expected, { registry = [] }) => exactly(expected, registry, 'registry'),
  registryInclude: (expected, { registry = [] }) => includes(expected, registry, 'registry'),
  exposedNames: (pattern, { exposed }) => {
    const wrong = exposed.flat().filter((name) => !new RegExp(pattern).test(name));
    return named(exposed, () => differs(wrong.length > 0, `names not like ${pattern}: ${wrong.join(', ')}`));
  },
  uniqueExposedNames: (_, { exposed }) => {
    const doubled = exposed.flatMap((names) => names.filter((name, index) => names.indexOf(name) !== index));
    return named(exposed, () => differs(doubled.length > 0, `names given twice: ${doubled.join(', ')}`));
  },

  calls: (expected, { calls }) => callDifferences(expected, calls),
  pingHealthy: (expected, seen) => {
    const { pingDoubts = ['no step pinged'] } = seen;
    const doubts = pingsOf(seen) === 0 ? [...pingDoubts, 'no ping reached the server'] : pingDoubts;
    return differs((doubts.length === 0) !== expected, `pings: ${doubts.join(', ') || 'all were well'}`);
  },

  errorNames: (patterns, seen) => {
    const told = errorsTold(seen);
    const lacking = patterns.filter((pattern) => !new RegExp(pattern, 'i').test(told));
    return differs(lacking.length > 0, `error lacks ${lacking.join(', ')} (says: ${short(told)})`);
  },
  diagnosticsName: (patterns, { diagnostics }) => {
    const lacking = patterns.filter((pattern) => !diagnostics.some((text) => new RegExp(pattern).test(text)));
    const told = short(diagnostics.join(' / '));
    return differs(lacking.length > 0, `no diagnostic about ${lacking.join(', ')} (there are: ${told})`);
  },
  diagnosticsMax: (most, { diagnostics }) => {
    const told = short(diagnostics.join(' / '));
    return differs(
      diagnostics.length > most,
      `${diagnostics.length} diagnostics, wanted at most ${most}: ${told}`,
    );
  },
  noEscapes: (_, { texts, printed }) => {
    const raw = [...texts, printed].filter((text) => ESCAPES.some((escape) => text.includes(escape)));
    return differs(raw.length > 0, `raw escape sequences were shown: ${short(JSON.stringify(raw))}`);
  },
  secretsHidden: (secrets, { texts, printed }) =>
    secrets.flatMap((secret) => {
      const leak = [...texts, printed].find((text) => text.includes(secret));
      return differs(leak !== undefined, `'${secret}' was shown: ${short(leak)}`);
    }),
  tokensForgotten: (expected, { areTokensKept }) =>
    differs(
      areTokensKept !== !expected,
      `tokens were ${areTokensKept === undefined ? 'never stored' : 'kept'}`,
    ),

  journal: (expected, seen) => countDifferences(expected, seen, 'journal'),
  requests: (expected, seen) => countDifferences(expected, seen, 'requests'),
  growingGaps: (keys, seen) => [keys].flat().flatMap((key) => gapDifferences(key, seen)),

  noOrphans: (_, { orphans }) => differs(orphans.length > 0, `${orphans.length} process(es) left running`),
  orphansGoneWithinMs: (limit, { orphans }) =>
    differs(orphans.length > 0, `${orphans.length} process(es) still there after ${limit} ms`),
  samePid: (names, { servers }) =>
    names.flatMap((name) => {
      const { pidAtLoad = null, pid = null } = servers[name] ?? {};
      return differs(pid === null || pid !== pidAtLoad, `${name} had process ${pidAtLoad} and has ${pid}`);
    }),
  gone: (names, { servers }) =>
    names.flatMap((name) => {
      const { state = 'never there', pids = [] } = servers[name] ?? {};
      const isGone = pids.length > 0 && ['absent', 'stopped'].includes(state);
      return differs(!isGone, `${name} is ${state}`);
    }),
  rssGrowthMaxMb: (most, { rssGrowthMb }) =>
    differs(rssGrowthMb > most, `memory grew by ${Math.round(rssGrowthMb)} MB, wanted at most ${most}`),

  anyOf: (sets, seen) => anyOf(sets.map((checks) => checkAll(checks, seen))),
};

/** Of one server its last state, of several that of the first that is not ready; with the error told about it. */
function stateOf({ servers }) {
  const all = Object.values(servers);
  const { state = 'absent', error = null } = all.find((one) => one.state !== 'ready') ?? all[0] ?? {};
  return { state, why: error === null || state === 'ready' ? '' : ` (${short(error)})` };
}

function late(limit, servers, names, states) {
  const [word] = states;
  const told = names.flatMap((name) => {
    const first = servers[name]?.timeline.find(({ state }) => states.includes(state));
    if (first !== undefined && first.ms <= limit) return [];
    return [`${name} ${first === undefined ? 'never' : `after ${first.ms} ms`}`];
  });
  const isLate = told.length > 0 || names.length === 0;
  return differs(isLate, `not ${word} within ${limit} ms (${told.join(', ') || 'there is no server'})`);
}

function listed(list, check) {
  return list?.tools === undefined
    ? [`tools are none (${list?.error ?? 'nothing was listed'})`]
    : check(list.tools);
}

function named(exposed, check) {
  return exposed.flat().length === 0 ? ['the host was given no names'] : check();
}

function exactly(expected, actual, word) {
  const isSame = JSON.stringify(expected.toSorted()) === JSON.stringify(actual.toSorted());
  return differs(!isSame, `${word}: ${actual.join(', ') || 'none'}; wanted ${expected.join(', ') || 'none'}`);
}

function includes(expected, actual, word) {
  const missing = expected.filter((name) => !actual.includes(name));
  return differs(
    missing.length > 0,
    `${word} missing: ${missing.join(', ')} (there are: ${actual.join(', ')})`,
  );
}

/** The last error of every server, a line each, and what is wrong with the configuration. */
function errorsTold({ servers, configErrors }) {
  const told = Object.entries(servers).filter(([, { error }]) => error !== null);
  return [...told.map(([name, { error }]) => `${name}: ${error}`), ...configErrors].join('\n');
}
