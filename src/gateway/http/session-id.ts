/** The id of a session in a fleet, `HOST.RANDOM`: it names the host that began the session. Pure. */

/** Where hosts bring sessions to each other. */
export const SESSIONS_PATH = '/fleet/sessions';

const ID = /^([0-9A-Za-z]{1,64})\.[0-9a-f-]{36}$/;

export function toSessionId(host: string, uuid: string): string {
  return `${host}.${uuid}`;
}

/** The host that began the session; undefined if the id does not name a host. */
export function hostOfSession(id: string): string | undefined {
  return id.length > 128 ? undefined : ID.exec(id)?.[1];
}
