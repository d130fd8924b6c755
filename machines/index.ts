/**
 * The charts and the policies they obey, without anything that makes them happen. Needs xstate only.
 */
export { connectionMachine } from './connection.machine.js';
export { managerMachine } from './manager.machine.js';
export type {
  ChildSpec,
  ManagerContext,
  ManagerEmitted,
  ManagerEvent,
  ManagerInput,
} from './manager.machine.js';
export { reviewMachine } from './review.machine.js';
export type {
  KeepApprovalsInput,
  KeepApprovalsOutput,
  RecallBaselineInput,
  RecallBaselineOutput,
  ReviewContext,
  ReviewEmitted,
  ReviewEvent,
  ReviewInput,
  ReviewTrouble,
} from './review.machine.js';
export { CONNECTION_COMMANDS } from './connection.events.js';
export type {
  BoundedSessionInput,
  CatalogCounts,
  ConnectionCommand,
  ConnectionContext,
  ConnectionEmitted,
  ConnectionEvent,
  ConnectionFact,
  ConnectionInput,
  ConnectionOutput,
  ConnectionReport,
  ConnectionTag,
  EnrichCatalogInput,
  EnrichCatalogOutput,
  EntryTerms,
  ExtraList,
  ExtrasPlan,
  HandshakeOutput,
  ListToolsOutput,
  OpenTransportOutput,
  PhaseTimings,
  PreparedSession,
  PrepareSessionInput,
  PrepareSessionOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  RetireSessionInput,
  ServerIdentity,
  SessionKey,
  Settled,
  StopIntent,
  TransportKind,
  Unsettled,
  WatchSessionInput,
} from './connection.events.js';
export { acceptedOf, verdict } from './verdict.js';
export type { TransitionVerdict } from './verdict.js';
export { classify, FAILURE_CODES, toFailure } from './policy/failure.js';
export type {
  Failure,
  FailureCode,
  FailurePhase,
  HttpRefusal,
  ProcessExit,
  Verdict,
} from './policy/failure.js';
export { DEFAULT_POLICY } from './policy/policy.js';
export type {
  BackoffOptions,
  ConnectionPolicy,
  ExhaustedPolicy,
  RestartIntensity,
  StopPolicy,
} from './policy/policy.js';
export { backoffDelay, jitterOver } from './policy/backoff.js';
export type { Delay } from './policy/backoff.js';
export { isImmediateRetry, recordRestart } from './policy/restart.js';
export type { RestartRecord } from './policy/restart.js';
export { grantStarts } from './policy/start-queue.js';
export type { Grants, StartClaim, Waiting } from './policy/start-queue.js';
export { heldOf } from './policy/review.js';
export type { HeldPrint, HeldReason, ToolPrint } from './policy/review.js';
export { afterLoss } from './policy/call-safety.js';
export type { LostCall, LostCallOutcome, RetryCalls } from './policy/call-safety.js';
