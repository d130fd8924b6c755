/**
 * Troupe: the MCP server connections of an agent host, supervised.
 */
export { createTroupe } from './troupe.js';
export type { Troupe } from './troupe.js';
export type { StartReport } from './start-report.js';
export type { ReloadReport } from './reload-report.js';
export type { ApproveOptions, Connection, DispatchResult, WaitOptions } from './connection.js';
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
  AssertionRequest,
  AuthOption,
  AuthOptions,
  AuthorizationRequest,
  AuthServer,
  OAuthClient,
} from './auth/auth-options.js';
export type { CallOptions } from './calls/call.js';
export type {
  ElicitationHandler,
  ElicitationHandlers,
  FormHandler,
  RootsHandler,
  SamplingAnswer,
  SamplingHandler,
  SamplingOptions,
  ServerRequestContext,
  ServerRequestHandlers,
  UrlHandler,
} from './server-requests/handlers.js';
export type { InjectionSignalName } from './calls/result/injection-patterns.js';
export type { InjectionSignal } from './calls/result/injection-signals.js';
export { renderResult } from './calls/result/results.js';
export type { RenderedResult, RenderOptions, ResultDiagnostic } from './calls/result/render.js';
export type { ResultOptions } from './calls/result/results.js';
export type { SpillPort } from './calls/result/spill.js';
export { TOOL_OUTPUT_SYSTEM_PROMPT } from './calls/result/system-prompt.js';
export type { MediaBlock } from './calls/result/take-apart.js';
export { createFileCatalogStore, type FileCatalogStoreOptions } from './catalog/cache-files.js';
export { createMemoryCatalogStore } from './catalog/cache-store.js';
export type { CachedCatalog, CatalogStore } from './catalog/cache-store.js';
export type { CatalogPrompt } from './catalog/prompt.js';
export type { CatalogTool } from './catalog/registry.js';
export type { CatalogResource, CatalogResourceTemplate } from './catalog/resource.js';
export { createFileReviewStore, type FileReviewStoreOptions } from './review/file-review-store.js';
export type { ReviewedField, ReviewedTool } from './review/fingerprint.js';
export type { HeldTool, ToolToApprove } from './review/held-tool.js';
export type { Review } from './review/review.js';
export { createMemoryReviewStore } from './review/review-store.js';
export type { RememberedTool, ReviewedServer, ReviewStore } from './review/review-store.js';
export type { Inspection, InspectOptions } from './inspection/inspection.js';
export type { LogSink } from './event-log/log-sink.js';
export type { RecordOptions, RecordTarget } from './event-log/record-options.js';
export type { Recording } from './event-log/recording.js';
export type { Scope, SourceReport } from './config/sources.js';
export type { ServerStatus } from './lifecycle/status.js';
export { CONNECTION_STATES } from './lifecycle/event.js';
export type {
  CallOutcome,
  CatalogList,
  ConnectionState,
  LifecycleEvent,
  LifecycleEventBody,
  LifecycleEventType,
  OfConnection,
  RejectionReason,
  ServerRequestOutcome,
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
  Isolation,
  MachineInspector,
  NamingTemplate,
  PolicyOverrides,
  ReviewMode,
  ReviewOptions,
  ServerConfig,
  ServerSettings,
  StdioServerConfig,
  ToolInQuestion,
  TroupeOptions,
  TrustPolicy,
  TrustRequest,
} from './options.js';
export type {
  Completion,
  CompletionArgument,
  CompletionOptions,
  CompletionRef,
} from './requests/connection-requests.js';
export type { RequestOptions } from './requests/request.js';
export type { OfServer, ResourceOptions } from './requests/troupe-requests.js';
export type { Clock, Logger } from './ports.js';
export type { JsonObject, Progress, RequestOrigin } from './protocol/protocol-client.js';
export {
  AuthRequiredError,
  CallAbortedError,
  CallTimeoutError,
  ConfigError,
  ConnectionLostError,
  HandshakeError,
  InvalidArgumentsError,
  InvalidTransitionError,
  LaunchError,
  NotOfferedError,
  NotReadyError,
  OutcomeUnknownError,
  ServerError,
  ToolHeldError,
  TroupeError,
  TrustRequiredError,
  UnknownToolError,
} from './errors.js';
export type { ArgumentProblem, ConfigProblem, TroupeErrorOptions } from './errors.js';
export type { ConnectionCommand, PhaseTimings, TransportKind } from '../machines/connection.events.js';
export type { RetryCalls } from '../machines/policy/call-safety.js';
export type { HeldReason } from '../machines/policy/review.js';
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
