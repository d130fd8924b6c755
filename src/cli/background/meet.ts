/** Finds the background process of a place. */
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { PACKAGE } from '../../package.js';
import { systemClock, type Clock } from '../../ports.js';
import { codeOf, messageOf } from '../../text/error-message.js';
import { messagesOf, type FromBackground, type Greeting } from './relay-messages.js';
import { whyUnusable, type Place } from './place.js';

/** A connection to the background process. */
export interface Met extends Greeting {
  readonly socket: Socket;
  readonly messages: AsyncGenerator<FromBackground, undefined, undefined>;
}

/** No process, or one that must not be used, and why. */
export interface NotMet {
  readonly state: 'absent' | 'stale' | 'unusable';
  readonly why: string;
}

/** Longest time for the greeting: the process may be stopped. */
const GREETING_MS = 2_000;

const ABSENT: NotMet = { state: 'absent', why: 'none runs' };

/** Never rejects. */
export async function meet(place: Place, clock: Clock = systemClock): Promise<Met | NotMet> {
  const why = whyUnusable(place);
  if (why !== undefined) return why === 'absent' ? ABSENT : { state: 'unusable', why };
  const socket = connect(place.address);
  const timer = clock.setTimeout(
    () => socket.destroy(new Error(`it did not answer within ${GREETING_MS / 1_000} s`)),
    GREETING_MS,
  );
  try {
    const messages = messagesOf<FromBackground | Greeting>(socket);
    const { value } = await messages.next();
    if (value === undefined || !('version' in value)) return ABSENT;
    return { ...value, socket, messages: messages as Met['messages'] };
  } catch (error) {
    socket.destroy();
    if (codeOf(error) === 'ENOENT') return ABSENT;
    if (codeOf(error) === 'ECONNREFUSED')
      return { state: 'stale', why: `nobody listens at ${place.address}` };
    return { state: 'unusable', why: messageOf(error) };
  } finally {
    clock.clearTimeout(timer);
  }
}

export function isMet(found: Met | NotMet): found is Met {
  return 'socket' in found;
}

/** Whether both are of one version of the package. */
export function isSameVersion({ version }: Greeting): boolean {
  return version === PACKAGE.version;
}

/** Removes what a killed process has left, unless another process has its place by now. */
export async function removeStale(place: Place, signal: AbortSignal): Promise<void> {
  const { withLock } = await import('../../storage/lock-file.js');
  await withLock(place.lock, () => claimable(place), { clock: systemClock, signal });
}

/** Makes the address free, if no process has it; returns the process that has it. Call it with the lock held. */
export async function claimable(place: Place): Promise<Met | undefined> {
  const found = await meet(place);
  if (isMet(found)) return found;
  if (found.state === 'unusable') throw new Error(found.why);
  if (found.state === 'stale') await rm(place.address, { force: true });
  return undefined;
}
