/** Converts the start and the client settings of a case to options of Troupe, and reports settings without equivalent. */
import { resolve } from 'node:path';
import { CALL_LIMIT_MS, callLimitOf, pingsOf } from './time-limits.mjs';

const TRANSPORTS = { http: 'http', 'streamable-http': 'http', streamableHttp: 'http', sse: 'sse' };
/** The longest timer of Node, which in practice means never. */
const NEVER_MS = 2 ** 31 - 1;
/** Limits of the ping timeout, whatever the interval is. */
const PING_ANSWER_MS = { least: 2_000, most: 5_000 };

/** Options for every server of the case. `url` is the address of its HTTP server, `tokens` the initial tokens. */
export function sharedOptions({ client = {}, steps }, url, tokens) {
  const { initTimeoutMs: limitMs, refreshTools } = client;
  return {
    policy: {
      ...(limitMs !== undefined && {
        launchTimeoutMs: limitMs,
        handshakeTimeoutMs: limitMs,
        listTimeoutMs: limitMs,
      }),
      ...(refreshTools === false && { listChanged: { debounceMs: NEVER_MS, maxWaitMs: NEVER_MS } }),
      ...pingPolicy(client, steps),
    },
    ...(client.oauth !== undefined && { auth: { store: tokens, ...registered(client.oauth, url) } }),
  };
}

/** A client secret belongs to the authorization server of the kit. */
function registered({ clientId, clientSecret }, url) {
  if (clientId === undefined) return {};
  return { client: { clientId, ...(clientSecret && { clientSecret, issuer: new URL(url).origin }) } };
}

/** Health checks are requested by the client settings or by a step that pings. */
function pingPolicy(client, steps) {
  const step = steps.find((one) => one.do === 'ping');
  if (client.healthCheckMs === undefined && step === undefined) return {};
  const idleMs = client.healthCheckMs ?? pingsOf(step, client).everyMs;
  const { least, most } = PING_ANSWER_MS;
  return { ping: { idleMs, timeoutMs: Math.min(Math.max(idleMs, least), most) } };
}

/** The entry of the one server of the case; `url` is that of the HTTP server started for it. */
export function serverEntry({ start, client = {} }, url) {
  const { headers, transport } = client;
  if (start.via === 'http') {
    const type = transport === undefined ? {} : { type: TRANSPORTS[transport] };
    return { url, ...type, ...(headers && { headers }) };
  }
  if (start.via !== 'stdio') throw new Error('the servers of a configuration start with the step load');
  const { command, args, env, cwd } = start;
  // The host runs in the folder of the kit; a server of a host's code starts in the home folder by itself.
  return { command, ...(args && { args }), ...(env && { env }), cwd: resolve(cwd ?? '.') };
}

/** Settings that the servers of the case cannot have, as sentences. */
export function settingProblems({ start, client = {} }) {
  const { headers, transport } = client;
  const fitting = start.via === 'http' ? Object.keys(TRANSPORTS) : [start.via];
  return [
    ...(headers !== undefined && start.via !== 'http'
      ? [`client.headers can be given to a server of 'http' only, not of '${start.via}'`]
      : []),
    ...(transport !== undefined && !fitting.includes(transport)
      ? [`client.transport cannot be '${transport}' for a server of '${start.via}'`]
      : []),
  ];
}

/** Options of one call. */
export function callOptions(step, client = {}) {
  const limitMs = callLimitOf(step, client);
  return {
    ...(limitMs !== undefined && { timeoutMs: limitMs }),
    ...(client.resetTimeoutOnProgress === false && { totalTimeoutMs: limitMs ?? CALL_LIMIT_MS }),
  };
}
