/** Which headers may be passed on from a client of a gateway to a server, or be added by a hook of the host. Pure. */

/**
 * What belongs to one connection (RFC 9110, section 7.6.1), to the credentials of one of the two sides, or to the message
 * that Troupe writes itself.
 */
const REFUSED =
  /^(?:authorization|proxy-.*|cookie2?|set-cookie2?|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept(?:-.*)?|mcp-.*|last-event-id)$/i;

/** Whether a client's header of this name may be passed on. */
export function isForwardable(name: string): boolean {
  return !REFUSED.test(name);
}

/** Whether a hook may add a header of this name: a credential for this server is what hooks are for. */
export function isAddable(name: string): boolean {
  return name.toLowerCase() === 'authorization' || isForwardable(name);
}
