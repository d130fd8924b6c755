/**
 * The exports of each entry point, as literals.
 */
interface EntryPoint {
  readonly subpath: string;
  /** Path of its source and, below `dist`, of its build, without the extension. */
  readonly target: string;
  /** Names that exist at run time. */
  readonly values: readonly string[];
  /** Names that exist only for the compiler. */
  readonly types: readonly string[];
}

const names = (list: string): string[] => list.trim().split(/\s+/).toSorted();

export const ENTRY_POINTS: readonly EntryPoint[] = [
  {
    subpath: '.',
    target: 'src/index',
    values: names(`
      AuthRequiredError CONNECTION_STATES CallAbortedError CallTimeoutError ConfigError
      ConnectionLostError HandshakeError InvalidTransitionError LaunchError NotReadyError
      OutcomeUnknownError JsonRpcError TroupeError TrustRequiredError UnknownToolError createTroupe
      discoverServers CONFIG_SCHEMA createFileTrustStore createFileTokenStore createKeychainTokenStore
      createMemoryTrustStore createMemoryTokenStore renderResult TOOL_OUTPUT_SYSTEM_PROMPT
      InvalidArgumentsError NotFoundError UnsupportedError ToolHeldError createFileCatalogStore createFileReviewStore
      createMemoryCatalogStore createMemoryReviewStore TROUPE_PHASES
      CallRefusedError ResultWithheldError ownTransport inspectFleet
    `),
    types: names(`
      BackoffOptions CallOptions CallOutcome CatalogTool Clock ConfigProblem ConfigProblemCode Connection ConnectionCommand
      Fleet FleetHost FleetHosts FoundTool InspectFleetOptions ToolField ToolSearchOptions
      CamelCase ResultOf ToolMethod ToolMethods ToolTypes TypedTools
      ConnectionPolicy ConnectionState DiagnosticEvent DiscoverOptions
      DiscoveredServer Discovery DispatchResult Failure FailureCode FailurePhase HttpRefusal
      EntryOAuth HttpServerConfig InProcessServer InProcessServerConfig JsonObject LeftOutTool LifecycleEvent LifecycleEventBody
      LifecycleEventType Logger NamingTemplate ConnectionScoped PhaseTimings PolicyOverrides ProcessExit
      Progress RejectionReason RestartIntensity Scope ServerConfig ServerSettings ServerStatus
      SourceReport StartReport StdioServerConfig StopPolicy TransportKind Troupe TroupeErrorOptions
      PrivateNetwork TroupeOptions TrustPolicy TrustRequest View
      ViewOptions WaitOptions TroupePhase
      TrustedEntry TrustStore AuthOption AuthOptions AuthServer AuthorizationRequest ConfigFile DiscoveryOptions
      AskInput StoreHost DroppedEntry ExhaustedPolicy ExpansionOptions FileTrustStoreOptions FileTokenStoreOptions FoundEntry
      FoundSource InputRequest KeychainTokenStoreOptions OAuthClient ReloadReport RetryCalls StoredSignIn
      TokenOwner TokenStore
      InjectionSignal InjectionSignalName MediaBlock RenderOptions RenderedResult ResultDiagnostic
      LogSink Recording ResultOptions SpillPort
      TrustOptions ArgumentProblem CachedCatalog CatalogList CatalogPrompt CatalogResource
      CatalogResourceTemplate CatalogStore Completion CompletionArgument CompletionOptions CompletionRef
      ElicitationHandler ElicitationHandlers FileCatalogStoreOptions FileReviewStoreOptions FormHandler
      HeldReason HeldTool InspectOptions Inspection MachineInspector MachineOverrides ServerScope LogFileOptions RecordOptions RecordTarget
      RequestOptions RequestOrigin ResourceOptions Review ReviewMode ReviewOptions ReviewStore ReviewedField
      ReviewedServer ReviewedTool RootsHandler SamplingAnswer SamplingHandler SamplingOptions
      ServerRequestContext ServerRequestHandlers ServerRequestOutcome TimeoutKind ToolInfo ToolToAccept
      UrlHandler
      NetworkFacts ObservedOperation ObservedTroupe Operation OperationEnd SessionFacts Telemetry
      RememberedTool Dispatcher MessageLimits NetworkOption NetworkOptions NetworkServer
      AssertionRequest DiagnosticKind Isolation ProtocolChoice ConnectionTag StopReason StoppedReason
      JSONRPCErrorResponse JSONRPCMessage JSONRPCNotification JSONRPCRequest JSONRPCResponse
      JSONRPCResultResponse MessageMeta MessageParams ProgressToken RequestId Result Annotations AudioContent
      BlobResourceContents ContentBlock EmbeddedResource Icon ImageContent Meta Resource ResourceLink Role
      TextContent TextResourceContents CallToolResult CompleteResult GetPromptResult Prompt PromptArgument
      PromptMessage ReadResourceResult ResourceTemplate Tool ToolAnnotations ToolSchema ClientCapabilities
      Implementation LoggingLevel ServerCapabilities TaskCapability TaskMethods BooleanField ChoiceField ChoicesField
      CreateMessageRequestParams CreateMessageResult CreateMessageResultWithTools ElicitRequestFormParams
      ElicitRequestURLParams ElicitResult FieldLabels FormField ModelPreferences NumberField Root
      SamplingContent SamplingMessage ServerRequestParams TextField TitledChoice TitledChoiceField
      TitledChoicesField ToolResultContent ToolUseContent AuthInfo FetchLike MessageExtraInfo Transport
      TransportSendOptions AddClientAuthentication AuthorizationServerMetadata OAuthClientInformation
      OAuthClientInformationMixed OAuthClientMetadata OAuthClientProvider OAuthDiscoveryState
      OAuthProtectedResourceMetadata OAuthTokens
      CallChange CallEnd CallHooks OutgoingCall EventOf EventsOptions OnceOptions TroupeList
      Stream StreamObserver Subscribable
    `),
  },
  {
    subpath: './machines',
    target: 'machines/index',
    values: names(`
      CONNECTION_COMMANDS DEFAULT_POLICY FAILURE_CODES REMOTE_POLICY acceptedOf afterLoss backoffDelay classify
      allowRetry connectionMachine grantStarts isImmediateRetry jitterOver managerMachine recordRestart toFailure verdict
      configurationMachine heldOf leaseMachine managed reviewMachine signInMachine MANAGER_COMMANDS idleHolders
      CONNECTION_STATES hasTag publicState statePath
    `),
    types: names(`
      BackoffOptions BoundedSessionInput ChildSpec ConnectionCommand ConnectionContext
      ConnectionEmitted ConnectionEvent ConnectionFact ConnectionInput ConnectionOutput ConnectionPolicy
      ConnectionReport ConnectionTag Delay EnrichCatalogOutput Failure FailureCode FailurePhase
      HandshakeOutput HttpRefusal LostCall LostCallOutcome ManagerContext ManagerEmitted ManagerEvent
      ManagerInput OpenTransportOutput ProcessExit ResolveConfigInput ResolveConfigOutput
      RestartIntensity RestartRecord RetryCalls ServerIdentity SessionKey Settled StopPolicy TransitionVerdict
      TransportKind Unsettled Verdict WatchSessionInput
      ExhaustedPolicy Grants StartClaim Waiting
      EnrichCatalogInput EntryTerms ExtraList HeldPrint HeldReason KeepAcceptedInput
      KeepAcceptedOutput RecallBaselineInput
      RecallBaselineOutput RetireSessionInput ReviewContext ReviewEmitted ReviewEvent ReviewInput
      ReviewTrouble ToolPrint
      AcquireLeaseOutput EndServerOutput LeaseContext LeaseEffectInput LeaseEffectOutput LeaseEvent LeaseInput LeasePolicy
      RenewLeaseOutput ApplyConfigurationFailure ApplyConfigurationInput ApplyConfigurationOutput ConfigurationContext
      ConfigurationEmitted ConfigurationEvent ConfigurationInput ConfigurationPolicy FilesReread
      Crash Death ManagerCommand ManagerFact ManagerTag Remains
      BeginSignInInput BeginSignInOutput ExchangeCodeInput ExchangeCodeOutput HeldToken LookForOtherInput
      LookForOtherOutput OpenRedirectInput ReadTokensOutput RenewTokenInput RenewTokenOutput RenewalCause ScopeLedger
      SettledAt SignInContext SignInEmitted SignInEvent SignInInput SignInKey SignInTag TokenFacts TokenOutcome
      AdoptToolsOutput ConnectionSignal ConnectionState Failed ListGroup ListPlan OpenTransportInput PublicState ReviewTag
      ServerList StopReason WatchLimits WatchSessionEvent
      ConnectionEffects ConnectionMachine Era NextTerms SubscribeOutput SubscriptionTries
    `),
  },
  {
    subpath: './event-log',
    target: 'src/event-log/index',
    values: names(`
      LOG_FORMAT MAX_LINE_BYTES POLICY_VERSION REPORT_FORMAT connectionName createLogFile createReport expectReplays readLog replayLog
      mergeLogs openLog
    `),
    types: names(`
      CauseEntry CauseKind ConnectionSummary ContextDifference Delivery Divergence Failure FailureCode
      FailurePhase HttpRefusal JsonObject LogEntry LogFileOptions
      LogHeader LogPiece LogProblem LogProblemCode LogSink LogSource LoggedEvent NoteEntry ProcessExit ReplayMethod ReplayOptions
      ReplayAgainst ReplayReport SnapshotEntry StateChange
      Moment OpenLog RecordOptions RecordTarget Rejection FoldedState WireDirection WireNote ServerIdentity
      SessionDetails StatusDetails
      CreatedReport CreateReportOptions FollowedLog FollowOptions LeftOut LogReport LogRun MergedLogs OpenOptions ReadOptions ReportedLog
      ReportVersions RunChange RunEntry ServerConfig
    `),
  },
  {
    subpath: './charts',
    target: 'src/charts/index',
    values: names(`
      activeStateIds allStates chartArrows chartHash chartModel shortId stateIdsOf toMermaid toScxml
      toTransitionTable transitionId transitionsOf
    `),
    types: names(`
      ChartArrow ChartBranch ChartEdge ChartEventKind ChartInvoke ChartModel ChartState ChartTransition
    `),
  },
  {
    subpath: './gateway',
    target: 'src/gateway/index',
    values: names(`createGateway createJwtVerifier serveHttp serveMetrics serveStdio`),
    types: names(`
      Offer OfferMode OfferOptions
      Answers ConnectOptions DrainOptions EventLogLimits Gateway GatewayEvent GatewayOptions GatewaySession RequestHeaders RequestTerms
      HttpService JwtVerifierOptions MetricsService MissingServer ProtectedResource Readiness ServeHttpOptions ServeMetricsOptions ServeStdioOptions StdioService VerifiedToken
    `),
  },
  {
    subpath: './testing',
    target: 'src/testing/index',
    values: names(`
      FakeTransport PAST_ALL_TIMERS_MS MODEL_START RpcFault SILENCE ScriptedServer connectionModel controlProgram
      createControlledClock createFakeTransport createRecordedServer createScriptedServer doneEvent edgePaths
      errorEvent expectNoLeaks possibleEvents refuse scriptedProgram silent text tool trackLeaks walkEdgePath
      HOST_POLICY HOST_START hostCommands transitionCoverage walkHost walkWithServers serverModel beyondReach controlHttpServer
    `),
    types: names(`
      Answer BackoffOptions Clock ConnectionModel ConnectionPolicy ControlledClock ControlledProgram EdgeDriver
      EdgeEvent EdgeOptions EdgePath EdgeSearch Exchange ExhaustedPolicy Failure FailureCode FailurePhase FakeTransportOptions
      Handler HttpRefusal InProcessServerConfig LeakCheckOptions LeakTracker MessageContext Misbehavior Params
      PolicyOverrides ProcessExit ProgramEntry RawFailure Received RecordedServer RecordedServerOptions
      MatchRequests RecordedRequest UnmatchedRequest RunOptions
      CausedBy ConnectionMachine ControlledHttpServer HostCommand HostModel HostUnderCommands HostUnderTest HttpReply
      HttpServerOptions ServerWalkOptions TransitionCoverage WalkedStep WalkOptions
      MessageHeaders RequestHeaders RestartIntensity RetryCalls ScriptedBody ScriptedOrder ScriptedProgramOptions ScriptedServerOptions SendOptions
      ServerScript ServerSettings SessionTransport StopPolicy TaskState TransportKind TransportNotice Wait
    `),
  },
  {
    subpath: './xstate',
    target: 'src/xstate/index',
    values: names('fromConnection fromTroupe troupeOf'),
    types: names(`
      CatalogTool CommandFailed ConnectionActorContext FleetCommand LifecycleEvent ServerCommand ServerStatus StartReport
      TroupeActorSnapshot TroupeCommand TroupeContext TroupeEmitted TroupeLogic TroupeSource
    `),
  },
  {
    subpath: './ai-sdk',
    target: 'src/adapters/ai-sdk',
    values: names('toTools'),
    types: names(`
      AnswerOptions Confirm CallLimits CatalogTool JsonObject MediaBlock ShownResult ToolAnswer ToolSource ToolsOptions
      FoundTool Offer OfferMode OfferOptions ToolField ToolSearchOptions
    `),
  },
  {
    subpath: './langchain',
    target: 'src/adapters/langchain',
    values: names('liveTools toTools'),
    types: names(`
      AnswerOptions Confirm CallLimits CatalogTool JsonObject LiveOptions MediaBlock ShownResult ToolSource ToolsOptions
      FoundTool OfferMode OfferOptions ProviderOfferOptions ToolField ToolSearchOptions
    `),
  },
  {
    subpath: './openai',
    target: 'src/adapters/openai',
    values: names('runChatToolCalls runResponsesToolCalls toChatTools toResponsesTools'),
    types: names(`
      AnswerOptions Confirm CallLimits CatalogTool ChatTool ChatToolCall ChatToolMessage FunctionCallOutput
      FunctionCallOutputPart JsonObject MediaBlock ObjectSchema ResponsesItem ResponsesTool RunOptions ShownResult
      ToolSource ChatToolsOptions ResponsesToolsOptions ResponsesNamespace ResponsesToolSearch
      FoundTool Offer OfferMode OfferOptions ProviderOfferOptions ToolField ToolSearchOptions
    `),
  },
  {
    subpath: './anthropic',
    target: 'src/adapters/anthropic',
    values: names('runToolCalls toTools'),
    types: names(`
      AnswerOptions Confirm CallLimits CatalogTool ImageType JsonObject MediaBlock MessageBlock MessagesTool ObjectSchema
      RunOptions ShownResult ToolResultBlock ToolResultPart ToolSource MessagesToolSearch ToolsOptions
      FoundTool OfferMode OfferOptions ProviderOfferOptions ToolField ToolSearchOptions
    `),
  },
  {
    subpath: './code-mode',
    target: 'src/adapters/code-mode',
    values: names('CODE_PRELUDE codeMode'),
    types: names(`
      CallLimits CatalogTool CodeBridge CodeLimits CodeModeOptions Confirm FoundTool JsonObject MediaBlock RunCode ShownResult
      ToolField ToolSearchOptions ToolSource
    `),
  },
  {
    subpath: './fleet',
    target: 'src/fleet/index',
    values: names('FleetError createFleet createMemoryEngine'),
    types: names(
      'Fleet FleetEngine FleetEntry FleetErrorCode FleetHost FleetHosts FleetLease FleetLine FleetOptions MemoryEngineOptions PutTerms StopFleet',
    ),
  },
  {
    subpath: './fleet-redis',
    target: 'src/adapters/fleet-redis',
    values: names('FleetError createRedisEngine'),
    types: names(
      'EngineOptions FleetEngine FleetEntry FleetErrorCode FleetLease FleetLine PutTerms RedisEngineOptions StopFleet',
    ),
  },
  {
    subpath: './fleet-nats',
    target: 'src/adapters/fleet-nats',
    values: names('FleetError createNatsEngine'),
    types: names(
      'EngineOptions FleetEngine FleetEntry FleetErrorCode FleetLease FleetLine NatsEngineOptions PutTerms StopFleet',
    ),
  },
  {
    subpath: './opentelemetry',
    target: 'src/adapters/opentelemetry',
    values: names('openTelemetry'),
    types: names('Telemetry'),
  },
];
