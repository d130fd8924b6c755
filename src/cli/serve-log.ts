/** What `troupe serve` tells on stderr: one line each, with time, level and context. Nothing of it goes to stdout. */
import type { GatewayEvent } from '../gateway/gateway.js';
import type { Clock, Logger } from '../ports.js';
import { isOfTheFiles } from './file-events.js';
import { toDetail, toHeadline } from './plain-lines.js';
import { oneLine } from './safe-text.js';
import { storeProblems } from './store-problems.js';
import type { Terminal } from './terminal.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

type Diagnostic = Extract<GatewayEvent, { readonly type: 'diagnostic' }>;

const LEVELS: Partial<Record<GatewayEvent['type'], Level>> = {
  'connection.lost': 'warn',
  'connection.retrying': 'warn',
  'connection.failed': 'error',
  'connection.trustRequired': 'warn',
  'connection.authRequired': 'warn',
  'manager.failed': 'error',
  diagnostic: 'warn',
};

/** `debug` is told with `--verbose` alone. */
export class ServeLog implements Logger {
  readonly #storeProblem = storeProblems();
  #hasStarted = false;

  constructor(
    private readonly terminal: Pick<Terminal, 'note'>,
    private readonly clock: Clock,
    private readonly isVerbose: boolean,
  ) {}

  debug(message: string, details?: Readonly<Record<string, unknown>>): void {
    if (this.isVerbose) this.#note('debug', message, details);
  }

  info(message: string, details?: Readonly<Record<string, unknown>>): void {
    this.#note('info', message, details);
  }

  warn(message: string, details?: Readonly<Record<string, unknown>>): void {
    this.#note('warn', message, details);
  }

  error(message: string, details?: Readonly<Record<string, unknown>>): void {
    this.#note('error', message, details);
  }

  /** From here on it tells what is wrong with the files; what was before has been said. */
  started(): void {
    this.#hasStarted = true;
  }

  /** What happened to a server, and in which session where the connection is that one's own. */
  event(event: GatewayEvent): void {
    const problem = this.#storeProblem(event);
    if (problem !== undefined) return this.warn(problem);
    if (this.#isOfTheFiles(event)) {
      return this.#note(event.kind === 'config-reloaded' ? 'info' : 'warn', event.message);
    }
    const headline = toHeadline(event);
    const line = headline ?? (this.isVerbose ? toDetail(event) : undefined);
    if (line === undefined) return;
    const level = headline === undefined ? 'debug' : (LEVELS[event.type] ?? 'info');
    const [time = '', ...words] = line.split(' ');
    const session = event.session === undefined ? [] : [`session=${event.session}`];
    this.terminal.note([time, level, ...words, ...session].join(' '));
  }

  /** Connections of one session alone have the same files. */
  #isOfTheFiles(event: GatewayEvent): event is Diagnostic {
    if (event.type !== 'diagnostic' || event.session !== undefined) return false;
    return isOfTheFiles(event.kind, this.#hasStarted);
  }

  #note(level: Level, message: string, details: Readonly<Record<string, unknown>> = {}): void {
    const context = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const time = new Date(this.clock.now()).toISOString();
    this.terminal.note(oneLine([time, level, 'gateway', message, ...context].join(' ')));
  }
}
