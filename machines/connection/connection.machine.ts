/**
 * One connection to one MCP server, over all its sessions.
 *
 * Owns: what state the connection is in and what happens next. Does not own: transports, clients, processes,
 * configuration values, tool definitions (the runtime keeps them by connection and generation), or the details of a session
 * in a status (emitted, and kept by observers). Each part of the chart is in its own file; its effects, guards, delays and
 * actions are in `connection.setup.ts`.
 *
 * M1. Context and events are plain JSON; guards read only context, event, and the state of another region.
 * M2. Every effect is a named actor slot. It settles with a record carrying `at`, or rejects with a `Failure`; its
 *     limit is in its input and its provider keeps it, so every wait ends. Timers of the chart run between
 *     sessions and during a burst of changes, never while a connection is simply ready.
 * M3. A new session may be opened only after the old one was proven released: every way to `opening` leads through a
 *     `releasing`, `closing` or `killing` that succeeded, or there was no session before. The one exception is
 *     `ready.succession`: beside a session that is not a child process, its successor may be prepared. There are never
 *     more than these two: one is in use, the other is not in use yet, or no longer.
 * M4. A generation is issued once, on entering `launching.opening` and `succession.preparing`; `generation` is the number
 *     of the session in use and never decreases. Every way to `opening` leads through `resolving`, which reads the entry
 *     for exactly that generation.
 * M5. `shuttingDown` is never re-entered. A stop during a restart makes the shutdown final; a second stop skips a step.
 * M6. Every state handles `call.waiting`: no code outside the chart knows which states a call can wake.
 */
import { configuring } from './connection.configuring.js';
import { failed, reconnecting } from './connection.recovery.js';
import { ready } from './connection.ready.js';
import { connection } from './connection.setup.js';
import { shuttingDown } from './connection.shutdown.js';
import { starting } from './connection.starting.js';
import { expected, policyOf } from './connection.transitions.js';
import { initialContext } from './connection.update.js';
import { restorable } from '../restore.js';

const chart = connection.createMachine({
  id: 'connection',
  options: { maxIterations: 100 },
  context: ({ input }) => initialContext(input),
  output: ({ context }) => ({
    name: context.name,
    reason: context.stopReason,
    generation: context.generation,
    attempts: context.attempt,
    at: context.at,
  }),
  initial: 'configuring',
  on: {
    'network.online': { actions: 'goOnline' },
    'network.offline': { actions: 'goOffline' },
    'clock.jumped': expected,
    'call.waiting': expected,
    'policy.changed': { actions: { type: 'applyPolicy', params: policyOf } },
  },
  states: {
    configuring,
    starting,
    ready,
    reconnecting,
    failed,
    shuttingDown,
    stopped: {
      description: 'The end. A later start spawns the next incarnation.',
      type: 'final',
      tags: ['settled', 'attempted'],
    },
  },
});

/**
 * The chart of one connection: an XState machine whose effects ({@link ConnectionEffects}) are empty until `provide` fills
 * them. It runs in any actor system, alone or as a child; `managed` makes it ask its parent for each start. A restored
 * snapshot sets the timer of its state again.
 */
export const connectionMachine = restorable(chart);

/** The type of {@link connectionMachine}, whatever fills its slots. */
export type ConnectionMachine = typeof connectionMachine;
