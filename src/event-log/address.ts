/**
 * How a log names an actor: its path from the manager, each step with the number of its incarnation. XState's session
 * ids are no identity: they differ in every run.
 *
 * `$` is the manager, `$/files#2` the second connection of that name, `$/files#2/openTransport#3` the third effect in
 * that slot.
 */

/** The address of the manager. */
export const MANAGER = '$';

/** An entry without a name is refused, and has its connection all the same. */
const ADDRESS = /^\$(?:\/[^/#]*#[1-9]\d{0,14})*$/;
const RESERVED = /[%/#]/g;

/** The address of a child; `id` may be any text. */
export function childAddress(parent: string, id: string, incarnation: number): string {
  return `${parent}/${id.replace(RESERVED, encodeURIComponent)}#${incarnation}`;
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && ADDRESS.test(value);
}

/** The name of the connection at that address, or above it; undefined for the manager. */
export function connectionName(address: string): string | undefined {
  const [, step] = address.split('/');
  return step?.slice(0, step.indexOf('#')).replaceAll(/%(?:25|2F|23)/g, decodeURIComponent);
}

/** The manager and the connections are machines; what is below a connection is an effect of it. */
export function isMachineAddress(address: string): boolean {
  return address.indexOf('/', MANAGER.length + 1) === -1;
}
