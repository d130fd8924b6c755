/**
 * The outside things Troupe needs, declared where they are needed and supplied once.
 * Production wiring is `systemClock` and the logger of the host; tests supply their own.
 */

/** Time, as the runtime sees it. All values are milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `fn` after `ms`; the returned handle goes to `clearTimeout`.
   *
   * @param fn Called once, without arguments.
   * @param ms The delay in milliseconds; 0 or less is as soon as possible.
   */
  setTimeout(fn: () => void, ms: number): unknown;
  /**
   * Cancels a timer. No error if it has fired.
   *
   * @param handle What `setTimeout` returned.
   */
  clearTimeout(handle: unknown): void;
}

/** A longer delay would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** A timer that fires later than this was held up: the process was stopped, or its event loop was busy. */
const LATE_MS = 10;

/** Timers that are due and wait for what came before them. */
let overdue = 0;

/**
 * A timer of the system clock. One that was held up first lets the event loop read what has come meanwhile, in two turns,
 * because an answer that came in time must win over its time limit. Timers that are due meanwhile wait as well, so that
 * their order stays.
 */
class SystemTimer {
  readonly #fn: () => void;
  readonly #dueAt: number;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #isOverdue = false;

  constructor(fn: () => void, ms: number) {
    this.#fn = fn;
    this.#dueAt = performance.now() + ms;
    // A timer of Node would wait for a millisecond.
    if (ms > 0) this.#timer = setTimeout(() => this.#fire(), Math.min(ms, MAX_DELAY_MS));
    else this.#turn = setImmediate(fn);
  }

  clear(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#leaveQueue();
  }

  /** Does not keep the process running. */
  unref(): void {
    this.#timer?.unref();
    this.#turn?.unref();
  }

  #fire(): void {
    if (overdue === 0 && performance.now() - this.#dueAt < LATE_MS) return this.#fn();
    this.#isOverdue = true;
    overdue += 1;
    this.#turn = setImmediate(() => {
      this.#turn = setImmediate(() => {
        this.#leaveQueue();
        this.#fn();
      });
    });
  }

  #leaveQueue(): void {
    if (this.#isOverdue) overdue -= 1;
    this.#isOverdue = false;
  }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => new SystemTimer(fn, ms),
  clearTimeout: (handle) => (handle as SystemTimer | undefined)?.clear(),
};

/**
 * Receives what happens, as records for the log of a program. `console` and the loggers of winston have this shape. A logger that
 * takes the details first, such as one of pino or bunyan, is recognized, and gets `(details, message)`.
 */
export interface Logger {
  /**
   * Writes a detail that only helps to find a fault.
   *
   * @param message One sentence for a person, without secrets.
   * @param details Facts for programs, as plain JSON. Default: none.
   */
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  /**
   * Writes what happens in normal operation.
   *
   * @param message One sentence for a person, without secrets.
   * @param details Facts for programs, as plain JSON. Default: none.
   */
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  /**
   * Writes what is odd but does not stop the work, or needs a person.
   *
   * @param message One sentence for a person, without secrets.
   * @param details Facts for programs, as plain JSON. Default: none.
   */
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  /**
   * Writes what has failed.
   *
   * @param message One sentence for a person, without secrets.
   * @param details Facts for programs, as plain JSON. Default: none.
   */
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** Facts of a log record, as plain JSON. No name in it is one that loggers use themselves, such as `level`, `time` or `message`. */
export type LogDetails = Readonly<Record<string, unknown>>;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];
export type LogLevel = (typeof LOG_LEVELS)[number];

export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

// The logger of a host, whose errors do no harm: an error that it throws, or a promise that it rejects, is dropped, since
// there is nowhere else to report it.

export function guardedLogger(logger: Logger = silentLogger): Logger {
  const isDetailsFirst = takesDetailsFirst(logger);
  const guarded =
    (level: LogLevel): Logger['error'] =>
    (message, details) => {
      try {
        const written: unknown = isDetailsFirst
          ? (logger as unknown as DetailsFirst)[level](details ?? {}, message)
          : logger[level](message, details);
        if (written instanceof Promise) written.catch(() => {});
      } catch {
        // See above.
      }
    };
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') };
}

/** Adds these details to every record. */
export function withDetails(logger: Logger, more: LogDetails): Logger {
  const adding =
    (level: LogLevel): Logger['error'] =>
    (message, details) =>
      logger[level](message, { ...details, ...more });
  return { debug: adding('debug'), info: adding('info'), warn: adding('warn'), error: adding('error') };
}

type DetailsFirst = Readonly<Record<LogLevel, (details: LogDetails, message: string) => unknown>>;

/** Loggers of pino have `bindings`, and loggers of bunyan have `fields`; other loggers with children take the message first. */
function takesDetailsFirst(logger: Logger): boolean {
  const { child, bindings, fields, addSerializers } = logger as Logger & Readonly<Record<string, unknown>>;
  if (typeof child !== 'function') return false;
  return (
    typeof bindings === 'function' || (typeof fields === 'object' && typeof addSerializers === 'function')
  );
}
