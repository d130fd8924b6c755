/**
 * Event logs: reads, replays and writes recordings of a troupe.
 */
export {
  LOG_FORMAT,
  MAX_LINE_BYTES,
  POLICY_VERSION,
  type CauseEntry,
  type CauseKind,
  type Delivery,
  type LogEntry,
  type LoggedEvent,
  type LogHeader,
  type NoteEntry,
  type SnapshotEntry,
} from './format/entry.js';
export type { JsonObject } from '../json/json-object.js';
export { connectionName } from '../actor-system/actor-path.js';
export { readLog, type LogPiece, type ReadOptions } from './format/read-log.js';
export type { LogSource } from './format/log-source.js';
export { REPORT_FORMAT, type LogReport, type ReportedLog, type ReportVersions } from './format/report.js';
export type { LogProblem, LogProblemCode } from './format/read-log.js';

export {
  openLog,
  type FollowedLog,
  type FollowOptions,
  type Moment,
  type OpenLog,
  type OpenOptions,
} from './replay/open-log.js';
export {
  mergeLogs,
  type LogRun,
  type MergedLogs,
  type RunChange,
  type RunEntry,
} from './replay/merge-logs.js';
export type { FoldedState } from './replay/folded-actor.js';

export type { SessionDetails, StatusDetails } from '../lifecycle/status-details.js';

export type { ServerIdentity } from '../../machines/connection/connection.events.js';

export { createReport, type CreatedReport, type CreateReportOptions } from './report/create-report.js';
export type { LeftOut } from './report/collect-logs.js';

export type { ServerConfig } from '../config/entry/server-config.js';

export { createLogFile } from './record/file-store.js';

export { expectReplays } from './replay/expect-replays.js';
export { replayLog, type ReplayOptions, type ReplayReport } from './replay/replay-log.js';
export type { ReplayAgainst } from './replay/replay-machines.js';
export type { ContextDifference, Divergence, ReplayMethod } from './replay/divergence.js';

export type { ConnectionSummary, Rejection, StateChange } from './replay/summary.js';

export type { LogFileOptions, LogSink, RecordOptions, RecordTarget } from './record/record-options.js';

export type { WireDirection, WireNote } from './record/wire-tap.js';

export type {
  Failure,
  FailureCode,
  FailurePhase,
  HttpRefusal,
  ProcessExit,
} from '../../machines/policy/failure.js';
