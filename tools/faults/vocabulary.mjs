/**
 * The format of a kit: every name that a case may use, and its values. The steps and checks implement the names. An
 * unknown name fails its case.
 */
import { constants } from 'node:os';
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
  shape,
  some,
  text,
} from './shape.mjs';

/** The states of a server in a kit. */
export const STATES = ['ready', 'failed', 'auth-required', 'pending-approval', 'disabled'];

/** A host that does not die of a signal dies of an uncaught error, for which kits have various names. */
export const isUncaughtError = (word) => /uncaught|unhandled|exception|error/i.test(word);

const states = some(oneOf(...STATES));
const texts = some(text);
const patterns = some(pattern);
/** A plain number is exact. */
const bound = either(amount, record({ min: amount, max: amount }));
const bounds = mapOf(bound);
const asked = { timeoutMs: amount, server: text };
const common = { do: text, note: anything, ...asked };
const program = { command: text, args: listOf(text), env: mapOf(text), cwd: text };
/** A mode of the HTTP server of the kit, or a separate server. */
const httpServer = either(text, record(program, { required: ['command'] }));

const STARTS = {
  stdio: record({ via: text, ...program, http: httpServer }, { required: ['command'] }),
  http: record({ via: text, ...program }, { required: ['command'] }),
  config: record({ via: text, file: text, env: mapOf(text), http: httpServer }, { required: ['file'] }),
};

const client = record(
  {
    initTimeoutMs: amount,
    callTimeoutMs: amount,
    resetTimeoutOnProgress: flag,
    healthCheckMs: amount,
    refreshTools: flag,
    headers: mapOf(text),
    oauth: record({ tokens: mapOf(anything), clientId: text, clientSecret: text }),
    transport: oneOf('http', 'streamable-http', 'streamableHttp', 'sse', 'stdio'),
  },
  { noun: 'setting' },
);

const call = { ...common, as: text, tool: text, args: mapOf(anything) };

const STEPS = {
  connect: record(common),
  'connect-many': record({ ...common, count: amount }, { required: ['count'] }),
  list: record(common),
  registry: record(common),
  call: record(call, { required: ['tool'] }),
  'call-and-abort': record({ ...call, afterMs: amount }, { required: ['tool', 'afterMs'] }),
  ping: record({ ...common, count: amount, everyMs: amount }),
  wait: record({ ...common, ms: amount }, { required: ['ms'] }),
  poke: record({ ...common, action: text }, { required: ['action'] }),
  load: record({ ...common, trust: oneOf('all', 'none') }),
  'replace-config': record({ ...common, file: text }, { required: ['file'] }),
  'kill-host': record({ ...common, signal: shape("a signal, or 'uncaught-error'", isEnd) }),
  stop: record(common),
};

const callOutcome = {
  text,
  textLength: bound,
  textMatches: patterns,
  error: flag,
  names: patterns,
  settlesWithinMs: amount,
  anyOf: (value, place) => listOf(outcome)(value, place),
};

const outcome = record(callOutcome);

const CHECKS = {
  state: states,
  stateNot: states,
  readyWithinMs: amount,
  failedWithinMs: amount,
  stopWithinMs: amount,
  tools: texts,
  toolsInclude: texts,
  toolsExclude: texts,
  registry: texts,
  registryInclude: texts,
  exposedNames: patterns,
  uniqueExposedNames: flag,
  calls: mapOf(outcome),
  errorNames: patterns,
  diagnosticsName: patterns,
  diagnosticsMax: amount,
  noEscapes: flag,
  journal: bounds,
  requests: bounds,
  growingGaps: texts,
  noOrphans: flag,
  orphansGoneWithinMs: amount,
  samePid: texts,
  gone: texts,
  servers: mapOf(states),
  secretsHidden: texts,
  tokensForgotten: flag,
  readyCount: bound,
  selfHeals: flag,
  pingHealthy: flag,
  rssGrowthMaxMb: amount,
  anyOf: (value, place) => listOf(checks)(value, place),
};

const checks = record(CHECKS, { noun: 'check' });

export const STEP_NAMES = Object.keys(STEPS);
export const CHECK_NAMES = Object.keys(CHECKS);
export const CALL_CHECK_NAMES = Object.keys(callOutcome);

/** The parts of a case; other fields are for readers. `http` and `client` are optional. */
export const CASE_PARTS = {
  start: chosenBy('via', STARTS),
  http: httpServer,
  client,
  steps: listOf(chosenBy('do', STEPS)),
  checks,
};

function isEnd(value) {
  return typeof value === 'string' && (value in constants.signals || isUncaughtError(value));
}

/** A field of the value selects the shape. */
function chosenBy(field, shapes) {
  const known = oneOf(...Object.keys(shapes));
  return (value, place) => {
    const word = value?.[field];
    const problems = known(word, `${place}.${field}`);
    return problems.length > 0 ? problems : shapes[word](value, place);
  };
}
