/** One connection that a machine of the host invokes, in a troupe of its own. */
import type { NonReducibleUnknown } from 'xstate';
import { isSameList } from '../catalog/list-diff.js';
import type { CatalogTool } from '../catalog/registry.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { connectionOf, type ServerCommand } from './troupe-command.js';
import { troupeLogic, type Facet, type TroupeLogic, type TroupeSource } from './troupe-logic.js';

/** What the actor of a connection shows. */
export interface ConnectionActorContext {
  /** As `Connection.status`; undefined until the configuration is read. */
  readonly status: ServerStatus | undefined;
  /** The tools of the server, as in `Troupe.tools`. */
  readonly tools: readonly CatalogTool[];
}

/**
 * Logic of an actor that runs one connection, in a troupe of its own. As `fromTroupe`, with the events, the tools and the row of
 * this server alone; its commands name no server. Other servers of that troupe are started, and not shown.
 *
 * @param server Name of the server. If the troupe has no such server, the actor ends with a {@link NotFoundError}.
 * @param source The options of the troupe, or a function that makes a new one from the input.
 *
 * @typeParam TInput Input of the actor.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { fromConnection } from 'mcp-troupe/xstate';
 *
 * const servers = { fs: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] } };
 * const actor = createActor(fromConnection('fs', { servers })).start();
 * actor.subscribe(({ context }) => console.log(context.status?.state));
 * actor.send({ type: 'connection.restart' });
 * ```
 */
export function fromConnection<TInput = NonReducibleUnknown>(
  server: string,
  source: TroupeSource<TInput>,
): TroupeLogic<ConnectionActorContext, ServerStatus | undefined, ServerCommand, TInput> {
  return troupeLogic(source, facetOf(server));
}

function facetOf(server: string): Facet<ConnectionActorContext, ServerStatus | undefined, ServerCommand> {
  return {
    empty: { status: undefined, tools: [] },
    read(troupe, before) {
      const status = troupe.connection(server)?.status;
      const tools = troupe.tools.filter((tool) => tool.server === server);
      return status === before.status && isSameList(tools, before.tools) ? before : { status, tools };
    },
    started(troupe) {
      connectionOf(troupe, server);
      return {};
    },
    output: ({ status }) => status,
    shows: (event) => 'server' in event && event.server === server,
    command: ({ type }) => ({ type, server }),
  };
}
