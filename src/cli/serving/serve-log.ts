/** The log of `troupe serve` on stderr: one line each, with time, level and context. Writes nothing to stdout. */
import { visibleJson } from '../../json/write-json.js';
import type { GatewayEvent } from '../../gateway/gateway.js';
import type { Clock, LogDetails, Logger, LogLevel } from '../../ports.js';
import { isOfTheFiles, toDetail, toHeadline } from '../output/plain-lines.js';
import { describeProblem } from '../../config/entry/problem.js';
import type { ConfigProblem } from '../../errors.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { storeProblems } from '../make-troupe.js';

type Diagnostic = Extract<GatewayEvent, { readonly type: 'diagnostic' }>;

const LEVELS: Partial<Record<GatewayEvent['type'], LogLevel>> = {
  'connection.lost': 'warn',
  'connection.retrying': 'warn',
  'connection.failed': 'error',
  'connection.trustRequired': 'warn',
  'connection.authRequired': 'warn',
  'manager.failed': 'error',
  diagnostic: 'warn',
};

/** `debug` is written only with `--verbose`. Begins with the warnings about the configuration. */
export class ServeLog implements Logger {
  readonly #storeProblem: ReturnType<typeof storeProblems>;
  #hasStarted = false;

  constructor(
    private readonly terminal: Pick<Terminal, 'note'>,
    private readonly clock: Clock,
    private readonly isVerbose: boolean,
    warnings: readonly ConfigProblem[] = [],
  ) {
    this.#storeProblem = storeProblems(warnings);
    for (const warning of warnings) this.warn(describeProblem(warning));
  }

  debug(message: string, details?: LogDetails): void {
    if (this.isVerbose) this.#note('debug', message, details);
  }

  info(message: string, details?: LogDetails): void {
    this.#note('info', message, details);
  }

  warn(message: string, details?: LogDetails): void {
    this.#note('warn', message, details);
  }

  error(message: string, details?: LogDetails): void {
    this.#note('error', message, details);
  }

  /** From now on, problems of the files are logged; the earlier ones were reported at the start. */
  started(): void {
    this.#hasStarted = true;
  }

  /** Logs an event of a server, with the session if the connection belongs to one. */
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

  /** A connection of a single session reads the same files, so only the others report on them. */
  #isOfTheFiles(event: GatewayEvent): event is Diagnostic {
    if (event.type !== 'diagnostic' || event.session !== undefined) return false;
    return isOfTheFiles(event.kind, this.#hasStarted);
  }

  #note(level: LogLevel, message: string, details: LogDetails = {}): void {
    // The record of an event, which `event` has written for people.
    if (details['event'] !== undefined) return;
    const context = Object.entries(details).map(([name, value]) => `${name}=${visibleJson(value)}`);
    const time = new Date(this.clock.now()).toISOString();
    this.terminal.note(oneLine([time, level, 'gateway', message, ...context].join(' ')));
  }
}
