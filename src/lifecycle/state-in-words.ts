/** The state of a connection in words for people. Programs use states and tags. Pure. */
import {
  hasTag,
  type ConnectionState,
  type ConnectionTag,
} from '../../machines/connection/connection.states.js';
import type { ServerStatus } from './status.js';

/** The parts of a status that the words depend on. */
export interface StateFacts extends Pick<ServerStatus, 'state' | 'tags'> {
  readonly reason?: ServerStatus['reason'];
  readonly nextAttemptAt?: ServerStatus['nextAttemptAt'];
}

/** The words. With `now`, milliseconds since the epoch, they include the time until the next attempt, if one is planned. */
export function stateInWords(facts: StateFacts, now?: number): string {
  const { state, reason, nextAttemptAt } = facts;
  if (reason === 'disabled') return 'disabled';
  const when = now === undefined || typeof nextAttemptAt !== 'number' ? '' : ` ${until(nextAttemptAt - now)}`;
  return WORDS[state]((tag) => hasTag(facts, tag), when);
}

type Has = (tag: ConnectionTag) => boolean;

const WORDS: Readonly<Record<ConnectionState, (has: Has, when: string) => string>> = {
  configuring: (has) => {
    if (has('awaitingTrust')) return 'waiting for trust';
    if (has('authorizing')) return 'waiting for sign-in';
    return has('dormant') ? 'idle, starting on request' : 'reading configuration';
  },
  launching: (has) => (has('opening') ? 'connecting' : 'waiting to start'),
  handshaking: () => 'connecting',
  ready: (has) => {
    const besides = READY.flatMap(([tag, words]) => (has(tag) ? [words] : []));
    return ['ready', ...besides].join(', ');
  },
  reconnecting: (has, when) => {
    if (has('offline')) return 'waiting for the network';
    return has('backingOff') ? `retrying${when}` : 'reconnecting';
  },
  failed: (has, when) => {
    if (has('retryingSlowly')) return `failed, retrying${when || ' later'}`;
    return has('exhausted') ? 'failed, retrying on request' : 'failed';
  },
  shuttingDown: (has) => (has('returning') ? 'closing its session' : 'stopping'),
  stopped: () => 'stopped',
};

/** What else goes on in `ready`. An ordinary ping and the reading of other lists are not worth a word. */
const READY: readonly (readonly [ConnectionTag, string])[] = [
  ['suspect', 'not answering'],
  ['refreshing', 'refreshing tools'],
  ['stale', 'tools out of date'],
  ['preparing', 'changing its session'],
];

function until(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  return seconds < 120 ? `in ${seconds} s` : `in ${Math.ceil(seconds / 60)} min`;
}
