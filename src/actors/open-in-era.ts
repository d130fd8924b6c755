/**
 * Opens a client in the era that its server speaks: the first one by `protocol` of the entry and by what is known, and the
 * other one if the failure says that it may help (`src/protocol/era.ts`). Both over the same transport: no process is
 * started only to ask.
 *
 * V1. At most one try in each era. If both fail, the error of the second counts, unless it only says that the era is wrong.
 * V2. A verdict is kept if the server has said so: it opened in the era asked first, or refused that and opened in the other.
 */
import type { BoundedSessionInput, ServerIdentity } from '../../machines/connection/connection.events.js';
import { eraOf, type Era } from '../../machines/policy/protocol-era.js';
import { isLimit, LimitOver, withinLimit } from '../async/within-limit.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { disprovesEra, firstEra, judgeEra, type EraVerdict } from '../protocol/era.js';
import type { ProtocolClient, ProtocolFailure } from '../protocol/protocol-client.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { toRawFailure } from './effect.js';
import type { EffectPorts } from './effect-ports.js';

/** The share of the handshake that an unanswered question in the new era may take, if the other era is still to be tried. */
const SHARE_OF_LIMIT = 0.3;
const LONGEST_MS = 5_000;

interface Opening {
  readonly transport: SessionTransport;
  /** Called with each client before it opens. */
  readonly attach: (client: ProtocolClient) => void;
  readonly signal: AbortSignal;
}

interface Opened {
  readonly client: ProtocolClient;
  readonly server: ServerIdentity;
}

/** Rejects with the error of a client, or with what it was thrown if no era opens. */
export async function openInEra(
  ports: EffectPorts,
  key: BoundedSessionInput,
  config: ServerConfig,
  { transport, attach, signal }: Opening,
): Promise<Opened> {
  const { eras, clock } = ports;
  const choice = ports.servers.settings(key.name).protocol;
  const isFree = choice === 'auto';
  const server = verdictKey(key.name, config, transport);
  const known = isFree ? eras.get(server) : undefined;
  const first = firstEra(choice, transport.kind, known);
  let firstId = 0;

  const open = async (era: Era, limitMs = 0): Promise<Opened> => {
    const client = await ports.createClient(key.name, era, firstId);
    signal.throwIfAborted();
    attach(client);
    client.onrefused = refusals(eras, server);
    try {
      return {
        client,
        server: await withinLimit(clock, signal, limitMs, (inner) => client.open(transport, inner)),
      };
    } finally {
      firstId = (client.lastRequestId ?? firstId - 1) + 1;
    }
  };

  const tryOther = async (verdict: EraVerdict, error: unknown): Promise<Opened> => {
    const other = first === 'new' ? 'old' : 'new';
    const opened = await open(other).catch((again: unknown) => {
      throw judgeEra(other, again, transport.kind) === 'neither' ? again : error;
    });
    if (verdict === 'other') eras.keep(server, other);
    return opened;
  };

  try {
    const mayHang = isFree && first === 'new' && transport.kind === 'http' && isLimit(key.limitMs);
    const opened = await open(first, mayHang ? Math.min(key.limitMs * SHARE_OF_LIMIT, LONGEST_MS) : 0);
    if (isFree) eras.keep(server, first);
    return opened;
  } catch (error) {
    const verdict = isFree && !signal.aborted ? judgeEra(first, error, transport.kind) : 'neither';
    try {
      if (verdict === 'neither') throw error;
      return await tryOther(verdict, error);
    } catch (last) {
      if (!(last instanceof LimitOver) && disprovesEra(toRawFailure(last))) eras.forget(server);
      throw last;
    }
  }
}

/** What the verdict is of: an address, or an entry of this process. Never published. */
function verdictKey(name: string, config: ServerConfig, { url }: SessionTransport): string {
  if (url !== undefined) return url;
  return JSON.stringify('command' in config ? [name, config.command, config.args] : [name]);
}

/** The server has changed: it is asked again in the era that it names, or in either. The client keeps nothing else alive. */
function refusals(eras: EffectPorts['eras'], server: string): (refusal: ProtocolFailure) => void {
  return ({ versions }) => {
    if (versions.some((version) => eraOf(version) === 'old')) eras.keep(server, 'old');
    else eras.forget(server);
  };
}
