/**
 * Opens a client in the era that its server speaks: the first one by `protocol` of the entry and by what is known, and the
 * other one if the failure says that it may help (`src/protocol/era.ts`). Both over the same transport: no process is
 * started only to ask.
 *
 * V1. At most one try in each era; only an era whose question got no answer in time is tried again, if the other one refuses.
 * V2. If both fail, the error of the second counts, unless it only says that the era is wrong. If each names the other one,
 *     that of the old era counts.
 * V3. A verdict is kept if a server opened. A program that was silent or gone is asked in the other era by its next process.
 */
import type { BoundedSessionInput, ServerIdentity } from '../../machines/connection/connection.events.js';
import { eraOf, type Era } from '../../machines/policy/protocol-era.js';
import { isLimit, LimitOver, withinLimit } from '../async/within-limit.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { disprovesEra, eraAfterSilence, firstEra, judgeEra, silenceLimit } from '../protocol/era.js';
import type { ProtocolClient, ProtocolFailure } from '../protocol/protocol-client.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { toRawFailure } from './effect.js';
import type { EffectPorts } from './effect-ports.js';

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
    client.onrefused = (refusal) => noteRefusal(ports, server, refusal);
    try {
      return {
        client,
        server: await withinLimit(clock, signal, limitMs, (inner) => client.open(transport, inner)),
      };
    } finally {
      firstId = (client.lastRequestId ?? firstId - 1) + 1;
    }
  };

  const openEither = async (): Promise<readonly [Era, Opened]> => {
    const mayHang = isFree && first === 'new' && isLimit(key.limitMs);
    try {
      return [first, await open(first, mayHang ? silenceLimit(transport.kind, key.limitMs) : 0)];
    } catch (error) {
      const verdict = isFree && !signal.aborted ? judgeEra(first, error, transport.kind) : 'neither';
      if (verdict === 'neither') throw error;
      const other = first === 'new' ? 'old' : 'new';
      try {
        return [other, await open(other)];
      } catch (again) {
        if (signal.aborted || judgeEra(other, again, transport.kind) === 'neither') throw again;
        if (error instanceof LimitOver) return [first, await open(first)];
        throw first === 'new' && verdict === 'other' ? again : error;
      }
    }
  };

  try {
    const [era, opened] = await openEither();
    if (isFree) eras.keep(server, era);
    return opened;
  } catch (error) {
    const isSilent = transport.kind === 'stdio' && (hasExpired(signal) || transport.ended !== undefined);
    if (isSilent) eras.keep(server, eraAfterSilence(first, known));
    else if (!signal.aborted && disprovesEra(toRawFailure(error))) eras.keep(server, undefined);
    throw error;
  }
}

function hasExpired(signal: AbortSignal): boolean {
  return signal.reason instanceof LimitOver;
}

/** What the verdict is of: an address, or an entry of this process. Never published. */
function verdictKey(name: string, config: ServerConfig, { url }: SessionTransport): string {
  if (url !== undefined) return url;
  return JSON.stringify('command' in config ? [name, config.command, config.args] : [name]);
}

/** The server has changed: it is asked again in the era that it names, or in either. */
function noteRefusal({ eras }: EffectPorts, server: string, { versions }: ProtocolFailure): void {
  if (versions.some((version) => eraOf(version) === 'old')) eras.keep(server, 'old');
  else eras.keep(server, undefined);
}
