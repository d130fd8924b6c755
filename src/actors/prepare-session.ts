/**
 * Brings up a session by the entry as it is now, beside the one in use, when an older one has finished its last calls.
 * Whatever becomes of it, the one in use goes on; what fails, or is not wanted any more, is ended here. Its tools stay
 * with it until it is in use: they change together.
 */
import { fromPromise } from 'xstate';
import type {
  BoundedSessionInput,
  PreparedSession,
  PrepareSessionInput,
  PrepareSessionOutput,
  Settled,
} from '../../machines/connection.events.js';
import { catalogHash } from '../catalog/list-diff.js';
import { toTexts } from '../catalog/tool-check.js';
import { doneWithin } from '../release.js';
import { runEffect, spanSince, type EffectSpec, type Nothing } from './effect.js';
import type { EffectPorts, Resolution } from './effect-ports.js';
import { shakingHands } from './handshake.js';
import { readingList } from './list-tools.js';
import { opening } from './open-transport.js';

export function prepareSession(ports: EffectPorts) {
  return fromPromise<PrepareSessionOutput, PrepareSessionInput>(async ({ input, signal }) => {
    const startedAt = ports.clock.now();
    const settled = <T extends object>(output: T): T & Settled => ({
      ...output,
      ...spanSince(ports.clock, startedAt),
    });
    const resolution = await runEffect(ports, resolving(ports), input, signal);
    if (resolution.kind === 'untrusted') return settled({ kind: 'untrusted' });
    await runEffect(ports, waiting(ports), input, signal);
    try {
      return settled({ kind: 'prepared', ...(await bringUp(ports, input, resolution, signal)) });
    } catch (error) {
      await doneWithin(ports.clock, input.releaseMs, ports.sessions.closeOne(input));
      throw error;
    }
  });
}

type Resolved = Extract<Resolution, { kind: 'resolved' }> & Settled;

async function bringUp(
  ports: EffectPorts,
  input: PrepareSessionInput,
  resolution: Resolved,
  signal: AbortSignal,
): Promise<PreparedSession> {
  const { name, generation, besides } = input;
  const step = <T extends object>(spec: EffectSpec<T, BoundedSessionInput>, limitMs: number) =>
    runEffect(ports, spec, { name, generation, limitMs }, signal);
  const others = { name, generation: besides };
  const ways = { clear: () => ports.sessions.closeOthers(others), config: () => resolution.config };
  const opened = await step(opening(ports, ways), input.launchMs);
  const hands = await step(shakingHands(ports), input.handshakeMs);
  const read = await step(readingList(ports), input.listMs);
  const session = ports.sessions.get({ name, generation });
  if (session !== undefined) session.prepared = read;
  return {
    configHash: resolution.hash,
    transport: opened.transport,
    pid: opened.pid,
    url: opened.url,
    server: hands.server,
    catalogHash: catalogHash(toTexts(read.tools)),
    tools: read.tools.length,
    timings: {
      configuringMs: durationOf(resolution),
      queuedMs: 0,
      launchingMs: durationOf(opened),
      handshakingMs: durationOf(hands),
      listingMs: durationOf(read),
    },
  };
}

function resolving({ servers }: EffectPorts): EffectSpec<Resolution, PrepareSessionInput> {
  return { phase: 'configure', run: ({ name }) => servers.resolve(name) };
}

/** There is no room for a new session while the one before that in use finishes its last calls. */
function waiting({ sessions }: EffectPorts): EffectSpec<Nothing, PrepareSessionInput> {
  return {
    phase: 'release',
    run: async ({ name, besides }) => {
      await sessions.othersFinished({ name, generation: besides });
      return {};
    },
  };
}

function durationOf({ startedAt, at }: Settled): number {
  return at - startedAt;
}
