/**
 * Lifecycle events as records of a log: at the level that an operator expects, with a sentence that is the same for every event
 * of its type, and the fields of the event. Pure.
 */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { LogDetails, LogLevel } from '../ports.js';
import type { LifecycleEvent, LifecycleEventType } from './event.js';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly details: LogDetails;
}

type Entry = readonly [level: LogLevel, message: string];

const ENTRIES: Readonly<
  Record<Exclude<LifecycleEventType, 'manager.failed' | 'server.log' | 'diagnostic'>, Entry>
> = {
  'manager.started': ['info', 'The servers are being started.'],
  'manager.stopped': ['info', 'Every connection has ended.'],
  'manager.rejected': ['debug', 'A command was rejected.'],
  'connection.added': ['debug', 'A connection was added.'],
  'connection.removed': ['debug', 'A server was removed.'],
  'connection.state': ['debug', 'A connection has entered another state.'],
  'connection.ready': ['info', 'The server is ready.'],
  'connection.lost': ['warn', 'The connection was lost.'],
  'connection.retrying': ['warn', 'Another attempt is planned.'],
  'connection.failed': ['error', 'The connection has failed.'],
  'connection.stopped': ['info', 'The connection was stopped.'],
  'connection.rejected': ['debug', 'A command was rejected.'],
  'connection.trustRequired': ['warn', 'The server waits to be trusted.'],
  'connection.authRequired': ['warn', 'The server waits for a sign-in.'],
  'connection.authSettled': ['info', 'The sign-in has ended.'],
  'catalog.changed': ['debug', 'A list of the server has changed.'],
  'tool.held': ['warn', 'A tool has changed and is held back until it is accepted.'],
  'tool.accepted': ['info', 'A tool was accepted.'],
  'call.started': ['debug', 'A call was sent.'],
  'call.progress': ['debug', 'A call has made progress.'],
  'call.finished': ['debug', 'A call has ended.'],
  'server.request': ['debug', 'A request of the server has ended.'],
  'elicitation.completed': ['debug', 'A person has completed an elicitation.'],
  'resource.updated': ['debug', 'A resource has changed.'],
  'server.notification': ['debug', 'The server sent a notification.'],
};

/** Diagnostics that need nobody. */
export const NOTICES: ReadonlySet<DiagnosticKind> = new Set<DiagnosticKind>([
  'arguments-coerced',
  'clock-jump',
  'config-reloaded',
  'no-listening-stream',
  'redirect-followed',
  'session-delete-failed',
  'stale-fact',
  'unwanted-fact',
]);

/** The levels of RFC 5424 that servers use. */
const SERVER_LEVELS: Readonly<Record<string, LogLevel>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

/** `at` is left out, since loggers add the time; and so are the parameters of notifications, which may be large. */
export function toLogRecord(event: LifecycleEvent): LogRecord {
  const [level, message] = entryOf(event);
  const details: Record<string, unknown> = { event: event.type };
  for (const [name, value] of Object.entries(event)) {
    if (LEFT_OUT.has(name)) continue;
    details[RENAMED[name] ?? name] = value;
  }
  return { level, message, details };
}

const LEFT_OUT: ReadonlySet<string> = new Set(['type', 'at', 'message', 'params']);

/** Fields of a rejection and of a log message have names that mean something else in a record. */
const RENAMED: Readonly<Record<string, string>> = { event: 'command', level: 'serverLevel' };

function entryOf(event: LifecycleEvent): Entry {
  switch (event.type) {
    case 'manager.failed':
      return ['error', event.message];
    case 'diagnostic':
      return [levelOf(event.kind), event.message];
    case 'server.log':
      return [
        event.stream === 'stderr' ? 'debug' : (SERVER_LEVELS[event.level ?? ''] ?? 'info'),
        event.message,
      ];
    case 'connection.authSettled':
      return event.failure === null ? ENTRIES[event.type] : ['warn', 'The sign-in has failed.'];
    default:
      return ENTRIES[event.type];
  }
}

function levelOf(kind: DiagnosticKind): LogLevel {
  return NOTICES.has(kind) ? 'info' : 'warn';
}
