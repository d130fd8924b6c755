/** A troupe that a machine of the host invokes. */
import type { NonReducibleUnknown } from 'xstate';
import type { CatalogTool } from '../catalog/registry.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { StartReport } from '../runtime/start-report.js';
import type { TroupeCommand } from './troupe-command.js';
import { troupeLogic, type Facet, type TroupeLogic, type TroupeSource } from './troupe-logic.js';

/** What the actor of a troupe shows. */
export interface TroupeContext {
  /** As `Troupe.status`. */
  readonly status: readonly ServerStatus[];
  /** As `Troupe.tools`. */
  readonly tools: readonly CatalogTool[];
  /** What `Troupe.start` has reported; undefined until then. */
  readonly report: StartReport | undefined;
}

const FACET: Facet<TroupeContext, readonly ServerStatus[], TroupeCommand> = {
  empty: { status: [], tools: [], report: undefined },
  read: ({ status, tools }, before) =>
    status === before.status && tools === before.tools ? before : { ...before, status, tools },
  started: (_troupe, report) => ({ report }),
  output: ({ status }) => status,
  shows: () => true,
  command: (sent) => sent,
};

/**
 * Logic of an actor that runs a troupe: it starts the troupe, shows its status and tools in the snapshot, emits its events, takes
 * commands, and closes it when it is stopped. Its output are the last rows of the status, if the troupe was closed by others. Its
 * error is what `Troupe.start` throws, or that of a crash. A server that fails is neither: see `status`.
 *
 * A persisted snapshot holds the input, and no troupe: a restored actor starts a new one.
 *
 * @param source The options of the troupe, or a function that makes a new one from the input.
 *
 * @typeParam TInput Input of the actor.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { fromTroupe } from 'mcp-troupe/xstate';
 *
 * const actor = createActor(fromTroupe({ config: '.mcp.json' }));
 * actor.on('connection.failed', ({ server, failure }) => console.warn(server, failure.message));
 * actor.start();
 * actor.send({ type: 'connection.restart', server: 'fs' });
 * ```
 */
export function fromTroupe<TInput = NonReducibleUnknown>(
  source: TroupeSource<TInput>,
): TroupeLogic<TroupeContext, readonly ServerStatus[], TroupeCommand, TInput> {
  return troupeLogic(source, FACET);
}
