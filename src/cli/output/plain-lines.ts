/** Lifecycle events as lines of text, for output without a terminal. Pure. */
import type { CatalogList, LifecycleEvent } from '../../lifecycle/event.js';
import type { DiagnosticKind } from '../../diagnostic-kind.js';
import { countOf, preciseDuration } from './duration.js';
import { summarizeWithCause } from './failure-report.js';
import { nameOf, oneLine } from './terminal.js';
import { serverCommand } from '../../lifecycle/server-command.js';

const LIST_NAMES: Readonly<Record<CatalogList, string>> = {
  tools: 'tools',
  resources: 'resources',
  resourceTemplates: 'resource templates',
  prompts: 'prompts',
};

/** The line for an event that everybody wants to know; undefined for a mere detail. */
export function toHeadline(event: LifecycleEvent): string | undefined {
  const headline = headlineOf(event);
  return headline === undefined ? undefined : line(event, headline);
}

/** What happened, without the time and the name of the server. */
export function headlineOf(event: LifecycleEvent): string | undefined {
  switch (event.type) {
    case 'connection.ready':
      return `ready, ${countOf(event.toolCount, 'tool')}`;
    case 'connection.lost':
      return `lost: ${summarizeWithCause(event.failure)}`;
    case 'connection.retrying': {
      const when = event.delayMs === 0 ? 'at once' : `in ${preciseDuration(event.delayMs)}`;
      const why = event.failure === null ? '' : `: ${summarizeWithCause(event.failure)}`;
      return `attempt ${event.attempt} of ${event.maxAttempts} ${when}${why}`;
    }
    case 'connection.failed': {
      const isExhausted = event.maxAttempts > 1 && event.attempt >= event.maxAttempts;
      const failed = isExhausted ? `failed after ${event.attempt} attempts` : 'failed';
      return `${failed}: ${summarizeWithCause(event.failure)}`;
    }
    case 'connection.stopped':
      return `stopped (${event.reason})`;
    case 'connection.trustRequired':
      return `needs trust; to trust it: ${serverCommand('trust', event.server)}`;
    case 'connection.authRequired':
      return `needs a sign-in: ${event.url ?? serverCommand('login', event.server)}`;
    case 'connection.authSettled':
      return event.failure === null
        ? 'signed in'
        : `the sign-in failed: ${summarizeWithCause(event.failure)}`;
    case 'manager.failed':
      return `failed: ${event.message}`;
    case 'diagnostic':
      if (event.kind === 'tool-changed') return `${event.message} 'troupe review' shows it.`;
      return LOSSES.has(event.kind) ? event.message : undefined;
    default:
      return undefined;
  }
}

/** What `--verbose` adds: every state, output of the servers, calls and anomalies. */
export function toDetail(event: LifecycleEvent): string | undefined {
  switch (event.type) {
    case 'connection.state':
      return line(event, event.substate === '' ? event.to : `${event.to} (${event.substate})`);
    case 'catalog.changed': {
      const { list = 'tools', added, removed, changed } = event;
      return line(
        event,
        `${LIST_NAMES[list]}: ${added.length} added, ${removed.length} removed, ${changed.length} changed`,
      );
    }
    case 'server.log':
      return line(event, `${event.stream}: ${event.message}`);
    case 'diagnostic':
      return line(event, `${event.kind}: ${event.message}`);
    case 'call.started':
      return line(event, `calls ${event.tool}`);
    case 'call.finished':
      return line(event, `${event.tool} ${event.outcome} after ${preciseDuration(event.durationMs)}`);
    case 'connection.rejected':
    case 'manager.rejected':
      return line(event, `'${event.event}' was rejected while ${event.state}`);
    default:
      return undefined;
  }
}

/** Kinds of diagnostics about something that a server sent and that was dropped. */
const LOSSES: ReadonlySet<DiagnosticKind> = new Set(['catalog-problem', 'message-too-large']);

function line(event: LifecycleEvent, text: string): string {
  const who = 'server' in event && event.server !== undefined ? nameOf(event.server) : 'troupe';
  return oneLine(`${new Date(event.at).toISOString()} ${who} ${text}`);
}

/** Kinds of diagnostics that matter to a person who edits the files, from a command that follows them. */
const KINDS: ReadonlySet<string> = new Set([
  'config-reloaded',
  'config-problem',
  'entry-outdated',
  'events-left-out',
  'reload-failed',
  'watch-problem',
]);

/** Problems of the files at the start have been reported by then. */
export function isOfTheFiles(kind: string, hasStarted: boolean): boolean {
  return KINDS.has(kind) && (hasStarted || kind !== 'config-problem');
}
