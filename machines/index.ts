/**
 * The charts and their policies: pure, without effects. Needs only xstate.
 */
export { connectionMachine, type ConnectionMachine } from './connection/connection.machine.js';
export type { ConnectionEffects } from './connection/connection.effects.js';
export { managed } from './connection/connection.managed.js';
export { managerMachine } from './manager/manager.machine.js';
export { MANAGER_COMMANDS } from './manager/manager.events.js';
export type {
  ChildSpec,
  Death,
  ManagerCommand,
  ManagerContext,
  ManagerEmitted,
  ManagerEvent,
  ManagerFact,
  ManagerInput,
  ManagerTag,
} from './manager/manager.events.js';
export type { Crash, Remains } from './connection/connection.crash.js';
export { configurationMachine } from './configuration/configuration.machine.js';
export type {
  ApplyConfigurationFailure,
  ApplyConfigurationInput,
  ApplyConfigurationOutput,
  ConfigurationContext,
  ConfigurationEmitted,
  ConfigurationEvent,
  ConfigurationInput,
  ConfigurationPolicy,
  FilesReread,
} from './configuration/configuration.machine.js';
export { leaseMachine } from './lease/lease.machine.js';
export type {
  AcquireLeaseOutput,
  EndServerOutput,
  LeaseContext,
  LeaseEffectInput,
  LeaseEffectOutput,
  LeaseEvent,
  LeaseInput,
  RenewLeaseOutput,
} from './lease/lease.machine.js';
export type { LeasePolicy } from './policy/lease-term.js';
export { reviewMachine } from './review/review.machine.js';
export type {
  KeepAcceptedInput,
  KeepAcceptedOutput,
  RecallBaselineInput,
  RecallBaselineOutput,
  ReviewContext,
  ReviewEmitted,
  ReviewEvent,
  ReviewInput,
  ReviewTag,
  ReviewTrouble,
} from './review/review.machine.js';
export { signInMachine } from './sign-in/sign-in.machine.js';
export type {
  BeginSignInInput,
  BeginSignInOutput,
  ExchangeCodeInput,
  ExchangeCodeOutput,
  LookForOtherInput,
  LookForOtherOutput,
  OpenRedirectInput,
  ReadTokensOutput,
  RenewalCause,
  RenewTokenInput,
  RenewTokenOutput,
  SettledAt,
  SignInContext,
  SignInEmitted,
  SignInEvent,
  SignInInput,
  SignInKey,
  SignInTag,
  TokenOutcome,
} from './sign-in/sign-in.events.js';
export type { HeldToken, TokenFacts } from './policy/token-life.js';
export type { ScopeLedger } from './policy/scopes.js';
export { CONNECTION_COMMANDS } from './connection/connection.events.js';
export type { Failed } from './connection/connection.setup.js';
export type { ListGroup, ListPlan } from './connection/list-plan.js';
export type {
  AdoptToolsOutput,
  BoundedSessionInput,
  ConnectionCommand,
  ConnectionContext,
  ConnectionEmitted,
  ConnectionEvent,
  ConnectionFact,
  ConnectionInput,
  ConnectionOutput,
  ConnectionReport,
  ConnectionSignal,
  EnrichCatalogInput,
  EnrichCatalogOutput,
  EntryTerms,
  ExtraList,
  HandshakeOutput,
  NextTerms,
  OpenTransportInput,
  OpenTransportOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  RetireSessionInput,
  ServerIdentity,
  ServerList,
  SessionKey,
  Settled,
  StopReason,
  SubscribeOutput,
  SubscriptionTries,
  TransportKind,
  Unsettled,
  WatchLimits,
  WatchSessionEvent,
  WatchSessionInput,
} from './connection/connection.events.js';
export {
  CONNECTION_STATES,
  hasTag,
  type ConnectionState,
  type ConnectionTag,
  type PublicState,
} from './connection/connection.states.js';
export { publicState, statePath } from './connection/public-state.js';
export { acceptedOf, verdict } from './verdict.js';
export type { TransitionVerdict } from './verdict.js';
export type { Era } from './policy/protocol-era.js';
export { classify, FAILURE_CODES, toFailure } from './policy/failure.js';
export type {
  Failure,
  FailureCode,
  FailurePhase,
  HttpRefusal,
  ProcessExit,
  Verdict,
} from './policy/failure.js';
export { DEFAULT_POLICY, REMOTE_POLICY } from './policy/policy.js';
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
export { allowRetry, grantStarts, idleHolders } from './policy/start-queue.js';
export type { Grants, StartClaim, Waiting } from './policy/start-queue.js';
export { heldOf } from './policy/review.js';
export type { HeldPrint, HeldReason, ToolPrint } from './policy/review.js';
export { afterLoss } from './policy/call-safety.js';
export type { LostCall, LostCallOutcome, RetryCalls } from './policy/call-safety.js';
