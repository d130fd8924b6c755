/**
 * Event logs: what a recorded troupe was told, in the order in which it was told, to be read by other programs.
 */
export {
  LOG_FORMAT,
  POLICY_VERSION,
  type CauseEntry,
  type CauseKind,
  type Delivery,
  type JsonObject,
  type LogEntry,
  type LoggedEvent,
  type LogHeader,
  type NoteEntry,
  type SnapshotEntry,
} from './entry.js';
export { connectionName } from './address.js';
export { LONGEST_LINE_BYTES, readLog, type LogPiece } from './read-log.js';
export type { LogProblem, LogProblemCode } from './log-problem.js';
export { openLog, type Moment, type OpenLog } from './open-log.js';
export type { Standing } from './folded-actor.js';
export { createLogFile, type LogFileOptions } from './file-store.js';
export type { LogSink } from './log-sink.js';
export { replayLog, type ReplayOptions, type ReplayReport } from './replay-log.js';
export type { ContextDifference, Divergence, ReplayMethod } from './divergence.js';
export type { ConnectionSummary, Rejection, StateChange } from './summary.js';
export type { RecordOptions, RecordTarget } from './record-options.js';
export type { WireDirection, WireNote } from './wire.js';
export type {
  Failure,
  FailureCode,
  FailurePhase,
  HttpRefusal,
  ProcessExit,
} from '../../machines/policy/failure.js';
