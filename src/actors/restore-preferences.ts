/** Sends a new session what hosts have requested from earlier sessions: the log level and the subscriptions. */
import type { BoundedSessionInput } from '../../machines/connection/connection.events.js';
import { withinLimit } from '../async/timers.js';
import type { Pending } from '../requests/session-preferences.js';
import { whyFailed } from './effect.js';
import { diagnose, type EffectPorts, requireClient } from './effect-ports.js';

/** Few enough for any server, and below the number of listeners on one signal at which Node.js warns (10). */
const AT_A_TIME = 8;

/**
 * Does nothing if the session knows everything. Never rejects: a request that the server refuses or does not answer in
 * time becomes a diagnostic, and stays wanted.
 */
export async function restorePreferences(
  ports: EffectPorts,
  key: BoundedSessionInput,
  signal: AbortSignal,
): Promise<void> {
  const failures: string[] = [];
  if (signal.aborted) return;
  try {
    const { session } = requireClient(ports, key);
    const pending = ports.wishes.takePending(session);
    if (pending === undefined) return;
    await withinLimit(ports.clock, signal, key.limitMs, (inner) =>
      restoreAll(ports, key, pending, inner, failures),
    );
  } catch (error) {
    const why = whyFailed(error, signal);
    if (why === undefined) return;
    failures.push(`the rest was not answered (${why})`);
  }
  const [first] = failures;
  if (first === undefined) return;
  const others = failures.length > 1 ? `, and ${failures.length - 1} more` : '';
  diagnose(ports, key, 'not-restored', `Not restored in this session: ${first}${others}.`);
}

async function restoreAll(
  ports: EffectPorts,
  key: BoundedSessionInput,
  { level, uris }: Pending,
  signal: AbortSignal,
  failures: string[],
): Promise<void> {
  const { session, client } = requireClient(ports, key);
  const { logging, resources } = session.capabilities;
  const ask = async (method: string, params: Record<string, unknown>, what: string): Promise<void> => {
    try {
      await client.request(method, params, { signal });
    } catch (error) {
      if (!signal.aborted) failures.push(`${what} (${whyFailed(error, signal)})`);
    }
  };
  if (level !== undefined && logging !== undefined) {
    await ask('logging/setLevel', { level }, `the log level '${level}'`);
  }
  if (uris.length > 0 && resources?.subscribe !== true) {
    failures.push(`${uris.length} subscription(s) (the server no longer offers them)`);
    return;
  }
  for (let from = 0; from < uris.length && !signal.aborted; from += AT_A_TIME) {
    const batch = uris.slice(from, from + AT_A_TIME);
    const wished = batch.filter((uri) => ports.wishes.isSubscribed(key.name, uri));
    await Promise.all(wished.map((uri) => ask('resources/subscribe', { uri }, `the subscription to ${uri}`)));
  }
}
