/**
 * Troupe inside XState 5: logic of actors that run a troupe or one connection, for machines of a host. Needs the package `xstate` of the
 * host only for its types.
 */
export { fromTroupe, type TroupeContext } from './from-troupe.js';
export { fromConnection, type ConnectionActorContext } from './from-connection.js';
export {
  troupeOf,
  type TroupeActorSnapshot,
  type TroupeEmitted,
  type TroupeLogic,
  type TroupeSource,
} from './troupe-logic.js';
export type { CommandFailed, FleetCommand, ServerCommand, TroupeCommand } from './troupe-command.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { LifecycleEvent } from '../lifecycle/event.js';
export type { ServerStatus } from '../lifecycle/status.js';
export type { StartReport } from '../runtime/start-report.js';
