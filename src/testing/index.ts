/**
 * The testing kit for hosts: misbehaving servers, a clock that a test moves, and paths over every transition of a chart.
 * Works with any test runner.
 */
export {
  createScriptedServer,
  refuse,
  RpcFault,
  ScriptedServer,
  SILENCE,
  silent,
} from './scripted-server.js';
export type { ScriptedBody, ScriptedServerOptions } from './scripted-server.js';
export type {
  Answer,
  Exchange,
  Handler,
  HttpReply,
  Misbehavior,
  Params,
  Received,
  ScriptedOrder,
  ServerScript,
  TaskState,
} from './server-script.js';
export { text, tool } from './ordinary-answers.js';
export { controlProgram, scriptedProgram } from './scripted-program.js';
export type { ControlledProgram, ProgramEntry, ScriptedProgramOptions } from './scripted-program.js';
export { controlHttpServer } from './http/control-http-server.js';
export type { ControlledHttpServer, HttpServerOptions } from './http/control-http-server.js';
export { createRecordedServer } from './recorded-server.js';
export type { RecordedServer, RecordedServerOptions, UnmatchedRequest } from './recorded-server.js';
export type { MatchRequests, RecordedRequest } from './recorded-requests.js';
export { createFakeTransport, FakeTransport } from './fake-transport.js';
export type { FakeTransportOptions, Wait } from './fake-transport.js';
export { createControlledClock } from './controlled-clock.js';
export type { ControlledClock, RunOptions } from './controlled-clock.js';
export { expectNoLeaks, trackLeaks } from './leaks.js';
export type { LeakCheckOptions, LeakTracker } from './leaks.js';
export { doneEvent, edgePaths, errorEvent, possibleEvents, walkEdgePath } from './edge-paths.js';
export type { EdgeDriver, EdgeEvent, EdgeOptions, EdgePath, EdgeSearch } from './edge-paths.js';
export { HOST_POLICY, HOST_START, hostCommands } from './host-commands.js';
export type { HostCommand, HostModel, HostUnderCommands } from './host-commands.js';
export type { ConnectionMachine } from '../../machines/connection/connection.machine.js';
export { walkHost } from './walk-host.js';
export type { HostUnderTest, WalkedStep, WalkOptions } from './walk-host.js';
export { beyondReach, serverModel } from './walks/server-model.js';
export { walkWithServers } from './walks/walk-with-servers.js';
export type { ServerWalkOptions } from './walks/walk-with-servers.js';
export type { CausedBy } from './walks/causes.js';
export { transitionCoverage } from './transition-coverage.js';
export type { TransitionCoverage } from './transition-coverage.js';
export { connectionModel, PAST_ALL_TIMERS_MS, MODEL_START } from './connection-model.js';
export type { ConnectionModel } from './connection-model.js';
export type {
  BackoffOptions,
  ConnectionPolicy,
  ExhaustedPolicy,
  RestartIntensity,
  StopPolicy,
} from '../../machines/policy/policy.js';
export type {
  Failure,
  FailureCode,
  FailurePhase,
  HttpRefusal,
  ProcessExit,
} from '../../machines/policy/failure.js';
export type { RetryCalls } from '../../machines/policy/call-safety.js';
export type {
  InProcessServerConfig,
  PolicyOverrides,
  ServerSettings,
} from '../config/entry/server-config.js';
export type { Clock } from '../ports.js';
export type {
  MessageContext,
  MessageHeaders,
  RequestHeaders,
  SendOptions,
  SessionTransport,
  TransportKind,
  TransportNotice,
} from '../transports/session-transport.js';
export type { RawFailure } from '../failures/transport-error.js';
