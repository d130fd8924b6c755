/** The log of `up` and `serve` with `--log-format json`: one object a line on stderr, with `time`, `level` and `message`. */
import { visibleJson } from '../../json/write-json.js';
import type { Clock, LogDetails, Logger, LogLevel } from '../../ports.js';
import type { Terminal } from './terminal.js';

/** `debug` is written only with `--verbose`. */
export class JsonLog implements Logger {
  constructor(
    private readonly terminal: Pick<Terminal, 'note'>,
    private readonly clock: Clock,
    private readonly isVerbose: boolean,
  ) {}

  debug(message: string, details?: LogDetails): void {
    if (this.isVerbose) this.#write('debug', message, details);
  }

  info(message: string, details?: LogDetails): void {
    this.#write('info', message, details);
  }

  warn(message: string, details?: LogDetails): void {
    this.#write('warn', message, details);
  }

  error(message: string, details?: LogDetails): void {
    this.#write('error', message, details);
  }

  #write(level: LogLevel, message: string, details?: LogDetails): void {
    const time = new Date(this.clock.now()).toISOString();
    this.terminal.note(visibleJson({ time, level, message, ...details }));
  }
}
