/**
 * The checks of the format, each a pure function from the expectation and the observations to the differences.
 *
 * `seen` is the report of the host (see `host.mjs`; of the shown texts, it has those with a secret or an escape
 * sequence) and: `printed` (its output), `journal` and `requests` (null if the case has none), `ends` (how long processes
 * outlived the end of the host or its stop) and `endedAt`.
 */
import { callDifferences } from './call-checks.mjs';
import { anyOf, differs, outside, short } from './difference.mjs';
import { countDifferences, gapDifferences, pingsOf } from './event-counts.mjs';
import { ESCAPES } from './shown-texts.mjs';

const GONE = ['absent', 'stopped'];
/** Time limit for the end of all processes if the case does not set one. */
export const ORPHANS_GONE_MS = 1_000;

export function checkAll(checks, seen) {
  return Object.entries(checks).flatMap(([name, expected]) => CHECKS[name](expected, seen, checks));
}

export const CHECKS = {
  state: (expected, seen) => {
    const { state, why } = stateOf(seen.servers);
    const wanted = [expected].flat();
    return differs(!wanted.includes(state), `state is ${state}${why}, wanted ${wanted.join(' or ')}`);
  },
  stateNot: (unwanted, seen) => {
    const { state } = stateOf(seen.servers);
    return differs([unwanted].flat().includes(state), `state is ${state}`);
  },
  servers: (expected, { servers }) =>
    Object.entries(expected).flatMap(([name, states]) => {
      const { state, why } = stateOf(pick(servers, name));
      const wanted = [states].flat();
      return differs(!wanted.includes(state), `${name} is ${state}${why}, wanted ${wanted.join(' or ')}`);
    }),
  readyCount: (expected, { servers }) => {
    const all = Object.values(servers);
    const ready = all.filter(({ state }) => state === 'ready').length;
    const wanted = outside(ready, expected);
    return differs(wanted !== undefined, `${ready} of ${all.length} ready, wanted ${wanted}`);
  },
  selfHeals: (expected, { servers }) => {
    const most = Math.max(0, ...Object.values(servers).map(({ sessions }) => sessions));
    return differs(most > 1 !== expected, `it started ${most} time(s)`);
  },

  readyWithinMs: (limit, seen, checks) => timely(limit, seen, checks, ['ready']),
  failedWithinMs: (limit, seen, checks) => timely(limit, seen, checks, ['failed', 'auth-required']),
  stopWithinMs: (limit, { stopMs }) =>
    differs(stopMs === null || stopMs > limit, `stop took ${stopMs} ms, wanted at most ${limit}`),

  tools: (expected, { list }) => listed(list, (tools) => exactly(expected, tools, 'tools')),
  toolsInclude: (expected, { list }) => listed(list, (tools) => includes(expected, tools, 'tools')),
  toolsExclude: (expected, { list }) =>
    listed(list, (tools) => {
      const unwanted = [expected].flat().filter((name) => tools.includes(name));
      return differs(unwanted.length > 0, `tools include ${unwanted.join(', ')}`);
    }),
  registry: (expected, { registry }) => looked(registry, (names) => exactly(expected, names, 'registry')),
  registryInclude: (expected, { registry }) =>
    looked(registry, (names) => includes(expected, names, 'registry')),
  exposedNames: (patterns, { exposed }) =>
    named(exposed, (names) =>
      [patterns].flat().flatMap((pattern) => {
        const wrong = new Set(names.filter((name) => !new RegExp(pattern).test(name)));
        return differs(wrong.size > 0, `names not like ${pattern}: ${[...wrong].join(', ')}`);
      }),
    ),
  uniqueExposedNames: (expected, { exposed }) =>
    named(exposed, () => {
      const doubled = exposed.flatMap((names) =>
        names.filter((name, index) => names.indexOf(name) !== index),
      );
      return differs(expected && doubled.length > 0, `duplicate names: ${doubled.join(', ')}`);
    }),

  calls: (expected, { calls }) => callDifferences(expected, calls),
  pingHealthy: (expected, seen) => {
    if (seen.pings === undefined) return ['pings: no step pinged'];
    const { doubts, probes } = seen.pings;
    const isPinged = probes > 0 && pingsOf(seen) !== 0;
    const failures = [...doubts, ...(isPinged ? [] : ['no ping reached the server'])];
    return differs(
      (failures.length === 0) !== expected,
      `pings: ${failures.join(', ') || 'all were answered'}`,
    );
  },

  errorNames: (patterns, seen) => {
    const errors = errorTexts(seen);
    const lacking = [patterns].flat().filter((pattern) => !new RegExp(pattern, 'i').test(errors));
    return differs(
      lacking.length > 0,
      `error does not mention ${lacking.join(', ')} (error: ${short(errors)})`,
    );
  },
  diagnosticsName: (patterns, { diagnostics }) => {
    const isNamed = (pattern) => diagnostics.some((text) => new RegExp(pattern).test(text));
    const lacking = [patterns].flat().filter((pattern) => !isNamed(pattern));
    const all = short(diagnostics.join(' / '));
    return differs(lacking.length > 0, `no diagnostic about ${lacking.join(', ')} (all: ${all})`);
  },
  diagnosticsMax: (most, { diagnostics }) => {
    const all = short(diagnostics.join(' / '));
    return differs(
      diagnostics.length > most,
      `${diagnostics.length} diagnostics, wanted at most ${most}: ${all}`,
    );
  },
  noEscapes: (expected, { texts, printed }) => {
    const raw = [...texts, printed].filter((text) => ESCAPES.some((escape) => text.includes(escape)));
    return differs(
      expected && raw.length > 0,
      `raw escape sequences were shown: ${short(JSON.stringify(raw))}`,
    );
  },
  secretsHidden: (secrets, { texts, printed }) =>
    [secrets].flat().flatMap((secret) => {
      const leak = [...texts, printed].find((text) => text.includes(secret));
      return differs(leak !== undefined, `'${secret}' was shown: ${short(leak)}`);
    }),
  tokensForgotten: (expected, { areTokensKept }) =>
    differs(
      areTokensKept !== !expected,
      `tokens were ${areTokensKept === undefined ? 'never stored' : areTokensKept ? 'kept' : 'forgotten'}`,
    ),

  journal: (expected, seen) => countDifferences(expected, seen, 'journal'),
  requests: (expected, seen) => countDifferences(expected, seen, 'requests'),
  growingGaps: (keys, seen) => [keys].flat().flatMap((key) => gapDifferences(key, seen)),

  noOrphans: (expected, { ends }, { orphansGoneWithinMs = ORPHANS_GONE_MS }) => {
    const left = orphans(ends, orphansGoneWithinMs);
    return differs(expected && left > 0, `${left} process(es) left running`);
  },
  orphansGoneWithinMs: (limit, { ends }) => {
    const left = orphans(ends, limit);
    return differs(left > 0, `${left} process(es) still running after ${limit} ms`);
  },
  samePid: (names, { servers }) =>
    [names].flat().flatMap((name) => {
      const { firstPid = null, pid = null } = pick(servers, name)[name] ?? {};
      return differs(pid === null || pid !== firstPid, `${name} had process ${firstPid} and has ${pid}`);
    }),
  gone: (names, { servers }) =>
    [names].flat().flatMap((name) => {
      const { state = 'never present', timeline = [], running = [] } = pick(servers, name)[name] ?? {};
      const wasThere = timeline.some((one) => !GONE.includes(one.state));
      const isGone = wasThere && GONE.includes(state) && running.length === 0;
      const still = running.length > 0 ? `, and its process still runs` : '';
      return differs(!isGone, `${name} is ${wasThere ? state : 'never present'}${still}`);
    }),
  rssGrowthMaxMb: (most, { rssGrowthMb }) =>
    differs(rssGrowthMb > most, `memory grew by ${rssGrowthMb.toFixed(1)} MB, wanted at most ${most}`),

  anyOf: (sets, seen) => anyOf(sets.map((checks) => checkAll(checks, seen))),
};

/** Every text that a set of checks requires to be hidden. */
export function secretsIn({ secretsHidden = [], anyOf: sets = [] }) {
  return [secretsHidden, sets.map(secretsIn)].flat(Infinity);
}

/** The last state of the server, or of the first server that is not ready, with its error. */
function stateOf(servers) {
  const all = Object.values(servers);
  const { state = 'absent', error = null } = all.find((one) => one.state !== 'ready') ?? all[0] ?? {};
  return { state, why: error === null || state === 'ready' ? '' : ` (${short(error)})` };
}

function pick(servers, name) {
  return Object.hasOwn(servers, name) ? { [name]: servers[name] } : {};
}

/**
 * Whether the servers reached one of the states in time: the servers that the case names, otherwise all of them. If the
 * case counts ready servers, only as many.
 */
function timely(limit, { servers }, { servers: expected = {}, readyCount }, states) {
  const [word] = states;
  const named = Object.keys(expected).filter((name) =>
    states.some((one) => [expected[name]].flat().includes(one)),
  );
  const wanted = named.length > 0 ? named : Object.keys(servers);
  const late = wanted.flatMap((name) => {
    const first = pick(servers, name)[name]?.timeline.find(({ state }) => states.includes(state));
    if (first !== undefined && first.ms <= limit) return [];
    return [`${name} ${first === undefined ? 'never' : `after ${first.ms} ms`}`];
  });
  const isCounted = word === 'ready' && named.length === 0 && readyCount !== undefined;
  const isTimely = isCounted
    ? outside(wanted.length - late.length, readyCount) === undefined
    : wanted.length > 0 && late.length === 0;
  return differs(!isTimely, `not ${word} within ${limit} ms (${late.join(', ') || 'no servers'})`);
}

function listed(list, check) {
  return list?.tools === undefined
    ? [`no list of tools (${list?.error ?? 'no step listed them'})`]
    : check(list.tools);
}

function looked(registry, check) {
  return registry === undefined ? ['registry: no step read it'] : check(registry);
}

function named(exposed, check) {
  const names = exposed.flat();
  return names.length === 0 ? ['the host exposed no names'] : check(names);
}

function exactly(expected, actual, word) {
  const wanted = [expected].flat();
  const isSame = JSON.stringify(wanted.toSorted()) === JSON.stringify(actual.toSorted());
  return differs(!isSame, `${word}: ${actual.join(', ') || 'none'}; wanted ${wanted.join(', ') || 'none'}`);
}

function includes(expected, actual, word) {
  const missing = [expected].flat().filter((name) => !actual.includes(name));
  return differs(missing.length > 0, `${word} missing: ${missing.join(', ')} (all: ${actual.join(', ')})`);
}

/** The number of processes that were alive after the limit. */
function orphans(ends, limitMs) {
  return ends.filter(({ aliveMs }) => aliveMs >= limitMs).length;
}

/**
 * A line for each server with its last error and the problems of its entry, and a line for each problem of the whole
 * configuration.
 */
function errorTexts({ servers, configErrors }) {
  const names = new Set([...Object.keys(servers), ...Object.keys(configErrors)]);
  return [...names]
    .map((name) => {
      const parts = [pick(servers, name)[name]?.error ?? [], configErrors[name] ?? []].flat();
      return name === '' ? parts.join('\n') : `${name}: ${parts.join(' | ')}`;
    })
    .filter((line) => !line.endsWith(': '))
    .join('\n');
}
