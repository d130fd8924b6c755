/**
 * Troupe: the MCP server connections of an agent host, supervised. Longer than 300 lines because it lists every public name.
 */
export { createTroupe } from './runtime/troupe.js';
export type { Troupe, TroupeList } from './runtime/troupe.js';

export type { EventOf, EventsOptions, OnceOptions } from './lifecycle/event-feed.js';
export type { Stream, StreamObserver, Subscribable } from './lifecycle/stream.js';

export type { StartReport } from './runtime/start-report.js';
export type { ReloadReport } from './servers/reload-report.js';

export type { TrustOptions, Connection, DispatchResult, WaitOptions } from './servers/connection.js';
export type { View, ViewOptions } from './runtime/view.js';

export type {
  CamelCase,
  ResultOf,
  ToolMethod,
  ToolMethods,
  ToolTypes,
  TypedTools,
} from './runtime/typed-tools.js';

export { discoverServers } from './servers/discover.js';
export type { DiscoveredServer, DiscoverOptions, Discovery } from './servers/discover.js';

export { CONFIG_SCHEMA } from './config/entry/published-schema.js';
export { createMemoryTrustStore } from './trust/trust-store.js';
export type { TrustedEntry, TrustStore } from './trust/trust-store.js';

export { createFileTrustStore, type FileTrustStoreOptions } from './trust/trust-store.js';
export type { StoreHost } from './config/files/user-store.js';
export type { DroppedEntry } from './config/files/drop-filtered.js';

export { createFileTokenStore, type FileTokenStoreOptions } from './auth/stores/file-token-store.js';
export {
  createKeychainTokenStore,
  type KeychainTokenStoreOptions,
} from './auth/stores/keychain-token-store.js';
export { createMemoryTokenStore } from './auth/stores/token-store.js';
export type { StoredSignIn, TokenOwner, TokenStore } from './auth/stores/token-store.js';

export type {
  AssertionRequest,
  AuthOption,
  AuthOptions,
  AuthorizationRequest,
  AuthServer,
  OAuthClient,
} from './auth/auth-options.js';
export type {
  Dispatcher,
  NetworkOption,
  NetworkOptions,
  NetworkServer,
} from './transports/http/network-options.js';
export { ownTransport } from './transports/own-transport.js';
export type { MessageLimits } from './json/parse-json.js';
export type { CallOptions } from './calls/call.js';
export type {
  NetworkFacts,
  ObservedOperation,
  ObservedTroupe,
  Operation,
  OperationEnd,
  SessionFacts,
  Telemetry,
} from './telemetry/telemetry.js';
export type { CallChange, CallEnd, CallHooks, OutgoingCall } from './calls/hooks.js';

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
export type { InjectionSignalName } from './results/injection-signals.js';

export type { InjectionSignal } from './results/injection-signals.js';
export { renderResult } from './runtime/results.js';
export type { RenderedResult, RenderOptions, ResultDiagnostic } from './results/render-result.js';

export type { ResultOptions } from './runtime/results.js';
export type { SpillPort } from './results/spill-folder.js';

export { TOOL_OUTPUT_SYSTEM_PROMPT } from './results/boundary-name.js';
export type { MediaBlock } from './results/split-content.js';

export { createFileCatalogStore, type FileCatalogStoreOptions } from './catalog/cache-store.js';
export { createMemoryCatalogStore } from './catalog/cache-store.js';
export type { CachedCatalog, CatalogStore } from './catalog/cache-store.js';

export type { CatalogPrompt } from './catalog/prompt.js';
export type { CatalogTool } from './catalog/registry.js';
export type { FoundTool, ToolSearchOptions } from './search/tool-search.js';
export type { ToolField } from './search/tool-index.js';

export type { CatalogResource, CatalogResourceTemplate } from './catalog/resource.js';
export { createFileReviewStore, type FileReviewStoreOptions } from './review/review-store.js';
export type { ReviewedField, ReviewedTool } from '../machines/policy/review.js';

export type { HeldTool, ToolToAccept } from './review/held-tool.js';
export type { Review } from './review/tool-review.js';

export { createMemoryReviewStore } from './review/review-store.js';
export type { RememberedTool, ReviewStore } from './review/review-store.js';

export type { ReviewedServer } from './catalog/catalogs.js';
export { inspectFleet, type InspectFleetOptions } from './inspector/inspect-fleet.js';
export type { Inspection, InspectOptions } from './inspector/inspection.js';

export type { LogSink } from './event-log/record/record-options.js';
export type { LogFileOptions, RecordOptions, RecordTarget } from './event-log/record/record-options.js';

export type { Recording } from './event-log/record/record-options.js';
export type { Scope } from './config/entry/server-spec.js';

export type { SourceReport } from './config/files/sources.js';
export type { LeftOutTool, ServerStatus, StoppedReason } from './lifecycle/status.js';
export type { DiagnosticKind } from './diagnostic-kind.js';

export {
  CONNECTION_STATES,
  type ConnectionState,
  type ConnectionTag,
} from '../machines/connection/connection.states.js';
export { TROUPE_PHASES } from '../machines/manager/manager.events.js';
export type { TroupePhase } from '../machines/manager/manager.events.js';

export type {
  CallOutcome,
  CatalogList,
  DiagnosticEvent,
  LifecycleEvent,
  LifecycleEventBody,
  LifecycleEventType,
  ConnectionScoped,
  ServerRequestOutcome,
} from './lifecycle/event.js';
export type { MachineInspector, MachineOverrides, TroupeOptions } from './options.js';
export type { Fleet } from './fleet/stores.js';

export type {
  ConfigFile,
  DiscoveryOptions,
  FoundEntry,
  FoundSource,
} from './config/files/discover-options.js';
export type { AskInput, ExpansionOptions, InputRequest } from './config/entry/server-config.js';

export type {
  EntryOAuth,
  HttpServerConfig,
  InProcessServer,
  InProcessServerConfig,
  Isolation,
  NamingTemplate,
  PolicyOverrides,
  ProtocolChoice,
  ServerConfig,
  ServerSettings,
  StdioServerConfig,
} from './config/entry/server-config.js';
export type { ReviewMode, ReviewOptions } from './review/review-option.js';

export type { ToolInfo } from './catalog/registry.js';
export type { TrustPolicy, TrustRequest } from './trust/trust-request.js';
export type { PrivateNetwork } from './trust/asked-address.js';

export type {
  Completion,
  CompletionArgument,
  CompletionOptions,
  CompletionRef,
} from './requests/connection-requests.js';
export type { RequestOptions } from './requests/request.js';

export type { ServerScope, ResourceOptions } from './requests/troupe-requests.js';
export type { Clock, Logger } from './ports.js';

export type { JsonObject } from './json/json-object.js';
export type { Progress, RequestOrigin } from './protocol/protocol-client.js';
export {
  AuthRequiredError,
  CallAbortedError,
  CallRefusedError,
  CallTimeoutError,
  ConfigError,
  ConnectionLostError,
  HandshakeError,
  InvalidArgumentsError,
  InvalidTransitionError,
  LaunchError,
  NotFoundError,
  UnsupportedError,
  NotReadyError,
  OutcomeUnknownError,
  ResultWithheldError,
  JsonRpcError,
  ToolHeldError,
  TroupeError,
  TrustRequiredError,
  UnknownToolError,
} from './errors.js';
export type {
  ArgumentProblem,
  ConfigProblem,
  ConfigProblemCode,
  RejectionReason,
  TimeoutKind,
  TroupeErrorOptions,
} from './errors.js';

export type {
  ConnectionCommand,
  StopReason,
  TransportKind,
} from '../machines/connection/connection.events.js';
export type { PhaseTimings } from './lifecycle/status-details.js';

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

export type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  JSONRPCResultResponse,
  MessageMeta,
  MessageParams,
  ProgressToken,
  RequestId,
  Result,
} from './mcp/messages.js';
export type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  ContentBlock,
  EmbeddedResource,
  Icon,
  ImageContent,
  Meta,
  Resource,
  ResourceLink,
  Role,
  TextContent,
  TextResourceContents,
} from './mcp/content.js';
export type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  Prompt,
  PromptArgument,
  PromptMessage,
  ReadResourceResult,
  ResourceTemplate,
  Tool,
  ToolAnnotations,
  ToolSchema,
} from './mcp/server-offers.js';
export type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  ServerCapabilities,
  TaskCapability,
  TaskMethods,
} from './mcp/session.js';
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  FieldLabels,
  FormField,
  ModelPreferences,
  NumberField,
  Root,
  SamplingContent,
  SamplingMessage,
  ServerRequestParams,
  TextField,
  TitledChoice,
  TitledChoiceField,
  TitledChoicesField,
  ToolResultContent,
  ToolUseContent,
} from './mcp/host-requests.js';
export type {
  AuthInfo,
  FetchLike,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from './mcp/transport.js';
export type {
  AddClientAuthentication,
  AuthorizationServerMetadata,
  OAuthClientInformation,
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthProtectedResourceMetadata,
  OAuthTokens,
} from './mcp/oauth.js';
