/**
 * The format of a kit: every word a case may use, and the values it takes. What a word does is in the steps and in
 * the checks. A word that is not here fails its case.
 */
import {
  amount,
  anything,
  either,
  flag,
  listOf,
  mapOf,
  oneOf,
  pattern,
  record,
  text,
  yes,
} from './shape.mjs';

/** How a kit calls the state of a server. */
export const STATES = ['ready', 'failed', 'auth-required', 'pending-approval', 'disabled'];

const state = either(oneOf(...STATES), listOf(oneOf(...STATES)));
const names = listOf(text);
const patterns = listOf(pattern);
const bounds = mapOf(record({ min: amount, max: amount }));
const common = { do: text, timeoutMs: amount, server: text };

const STARTS = {
  stdio: record(
    { via: text, command: text, args: names, env: mapOf(text), cwd: text, http: text },
    { required: ['command'] },
  ),
  http: record({ via: text, command: text, args: names }, { required: ['command'] }),
  config: record({ via: text, file: text, env: mapOf(text), http: text }, { required: ['file'] }),
};

const client = record(
  {
    initTimeoutMs: amount,
    callTimeoutMs: amount,
    resetTimeoutOnProgress: flag,
    healthCheckMs: amount,
    refreshTools: flag,
    headers: mapOf(text),
    oauth: record({ tokens: mapOf(anything), clientId: text }),
    transport: oneOf('http', 'streamable-http', 'sse'),
  },
  { noun: 'setting' },
);

const call = { ...common, as: text, tool: text, args: mapOf(anything) };

const STEPS = {
  connect: record(common),
  'connect-many': record({ ...common, count: amount }, { required: ['count'] }),
  list: record(common),
  registry: record(common),
  call: record(call, { required: ['as', 'tool'] }),
  'call-and-abort': record({ ...call, afterMs: amount }, { required: ['as', 'tool', 'afterMs'] }),
  ping: record({ ...common, count: amount, everyMs: amount }, { required: ['count', 'everyMs'] }),
  wait: record({ ...common, ms: amount }, { required: ['ms'] }),
  poke: record({ ...common, action: text }, { required: ['action'] }),
  load: record({ ...common, trust: oneOf('all', 'none') }),
  'replace-config': record({ ...common, file: text }, { required: ['file'] }),
  'kill-host': record({ ...common, signal: text }),
  stop: record(common),
};

const callOutcome = {
  text,
  textLength: amount,
  textMatches: patterns,
  error: flag,
  names: patterns,
  settlesWithinMs: amount,
};

const CHECKS = {
  state,
  stateNot: state,
  readyWithinMs: amount,
  failedWithinMs: amount,
  stopWithinMs: amount,
  tools: names,
  toolsInclude: names,
  toolsExclude: names,
  registry: names,
  registryInclude: names,
  exposedNames: pattern,
  uniqueExposedNames: yes,
  calls: mapOf(record({ ...callOutcome, anyOf: listOf(record(callOutcome)) })),
  errorNames: patterns,
  diagnosticsName: patterns,
  diagnosticsMax: amount,
  noEscapes: yes,
  journal: bounds,
  requests: bounds,
  growingGaps: either(text, names),
  noOrphans: yes,
  orphansGoneWithinMs: amount,
  samePid: names,
  gone: names,
  servers: mapOf(oneOf(...STATES)),
  secretsHidden: names,
  tokensForgotten: flag,
  readyCount: amount,
  selfHeals: flag,
  pingHealthy: flag,
  rssGrowthMaxMb: amount,
  anyOf: (value, place) => listOf(checks)(value, place),
};

const checks = record(CHECKS, { noun: 'check' });

export const STEP_NAMES = Object.keys(STEPS);
export const CHECK_NAMES = Object.keys(CHECKS);

/** Whatever else a case holds is for people. */
export const CASE_PARTS = {
  start: chosenBy('via', STARTS),
  client,
  steps: listOf(chosenBy('do', STEPS)),
  checks,
};

/** The shape is named by a field of the value. */
function chosenBy(field, shapes) {
  const known = oneOf(...Object.keys(shapes));
  return (value, place) => {
    const word = value?.[field];
    const problems = known(word, `${place}.${field}`);
    return problems.length > 0 ? problems : shapes[word](value, place);
  };
}
