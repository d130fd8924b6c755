/** Turns the start and the client settings of a case into options of a troupe, or says what cannot be said with them yet. */

/** The runtime has no such thing yet; the case fails and says so. */
export class NotSupported extends Error {
  constructor(what) {
    super(`not supported yet: ${what}`);
    this.name = 'NotSupported';
  }
}

const TRANSPORTS = { http: 'http', 'streamable-http': 'http', sse: 'sse' };

/** Options that hold for every server of the case. */
export function sharedOptions({ client = {}, steps }) {
  if (client.oauth !== undefined) throw new NotSupported('OAuth (tokens to start with, a token store)');
  if (client.resetTimeoutOnProgress === false)
    throw new NotSupported('a call limit that progress does not extend');
  if (client.refreshTools === false) throw new NotSupported('a list that is not kept up to date');
  const everyMs = client.healthCheckMs ?? steps.find((step) => step.do === 'ping')?.everyMs;
  return everyMs === undefined ? {} : { policy: { ping: { idleMs: everyMs } } };
}

/** The entry of the one server of the case; `url` is that of the HTTP server started for it. */
export function serverEntry({ start, client = {} }, url) {
  const { initTimeoutMs, callTimeoutMs, headers, transport } = client;
  const limits = {
    ...(initTimeoutMs !== undefined && { timeout: initTimeoutMs }),
    ...(callTimeoutMs !== undefined && { callTimeout: callTimeoutMs }),
  };
  if (start.via === 'stdio') {
    const { command, args, env, cwd } = start;
    return { command, ...(args && { args }), ...(env && { env }), ...(cwd && { cwd }), ...limits };
  }
  const type = transport === undefined ? {} : { type: TRANSPORTS[transport] };
  return { url, ...type, ...(headers && { headers }), ...limits };
}
