/**
 * Troupe: the MCP server connections of an agent host, supervised.
 */
export { createTroupe } from './troupe.js';
export type { Troupe } from './troupe.js';
export type { StartReport } from './start-report.js';
export type { ReloadReport } from './reload-report.js';
export type { Connection, DispatchResult, WaitOptions } from './connection.js';
export type { View, ViewOptions } from './view.js';
export { discoverServers } from './discover.js';
export type { DiscoveredServer, DiscoverOptions, Discovery } from './discover.js';
export { CONFIG_SCHEMA } from './config/published-schema.js';
export { createMemoryApprovalStore } from './config/approval-store.js';
export type { Approval, ApprovalStore } from './config/approval-store.js';
export { createFileApprovalStore, type FileApprovalStoreOptions } from './config/file-approval-store.js';
export type { DroppedEntry } from './config/drop-filtered.js';
export { createFileTokenStore, type FileTokenStoreOptions } from './auth/file-token-store.js';
export { createKeychainTokenStore, type KeychainTokenStoreOptions } from './auth/keychain-token-store.js';
export { createMemoryTokenStore } from './auth/token-store.js';
export type { StoredSignIn, TokenOwner, TokenStore } from './auth/token-store.js';
export type {
  AuthOption,
  AuthOptions,
  AuthorizationRequest,
  AuthServer,
  OAuthClient,
} from './auth/auth-options.js';
export type { CallOptions } from './calls/call.js';
export type { InjectionSignalName } from './calls/result/injection-patterns.js';
export type { InjectionSignal } from './calls/result/injection-signals.js';
export { renderResult } from './calls/result/render.js';
export type { RenderedResult, RenderOptions, ResultDiagnostic } from './calls/result/render.js';
export type { ResultOptions } from './calls/result/results.js';
export type { SpillPort } from './calls/result/spill.js';
export { TOOL_OUTPUT_SYSTEM_PROMPT } from './calls/result/system-prompt.js';
export type { MediaBlock } from './calls/result/take-apart.js';
export type { CatalogTool } from './catalog/registry.js';
export type { LogSink } from './event-log/log-sink.js';
export type { Recording } from './event-log/recording.js';
export type { Scope, SourceReport } from './config/sources.js';
export type { ServerStatus } from './lifecycle/status.js';
export { CONNECTION_STATES } from './lifecycle/event.js';
export type {
  CallOutcome,
  ConnectionState,
  LifecycleEvent,
  LifecycleEventBody,
  LifecycleEventType,
  OfConnection,
  RejectionReason,
} from './lifecycle/event.js';
export type {
  ConfigFile,
  DiscoverChoice,
  ExpansionOptions,
  FoundEntry,
  FoundSource,
  HttpServerConfig,
  InProcessServerConfig,
  InputRequest,
  NamingTemplate,
  PolicyOverrides,
  ServerConfig,
  ServerSettings,
  StdioServerConfig,
  TroupeOptions,
  TrustPolicy,
  TrustRequest,
} from './options.js';
export type { Clock, Logger } from './ports.js';
export type { JsonObject, Progress } from './protocol/protocol-client.js';
export {
  AuthRequiredError,
  CallAbortedError,
  CallTimeoutError,
  ConfigError,
  ConnectionLostError,
  HandshakeError,
  InvalidTransitionError,
  LaunchError,
  NotReadyError,
  OutcomeUnknownError,
  ServerError,
  TroupeError,
  TrustRequiredError,
  UnknownToolError,
} from './errors.js';
export type { ConfigProblem, TroupeErrorOptions } from './errors.js';
export type { ConnectionCommand, PhaseTimings, TransportKind } from '../machines/connection.events.js';
export type { RetryCalls } from '../machines/policy/call-safety.js';
export type {
  BackoffOptions,
  ConnectionPolicy,
  ExhaustedPolicy,
  RestartIntensity,
  StopPolicy,
} from '../machines/policy/policy.js';
export type {
  Failure,
  FailureCode,
  FailurePhase,
  HttpRefusal,
  ProcessExit,
} from '../machines/policy/failure.js';
