/**
 * The logger of a host, which cannot hurt anyone: what it throws, at once or later where it is asynchronous, is dropped.
 * There is nobody else to tell.
 */
import { silentLogger, type Logger } from './ports.js';

export function guardedLogger(logger: Logger = silentLogger): Logger {
  const guarded =
    (level: keyof Logger): Logger['error'] =>
    (message, details) => {
      try {
        const written: unknown = logger[level](message, details);
        if (written instanceof Promise) written.catch(() => {});
      } catch {
        // See above.
      }
    };
  return { debug: guarded('debug'), warn: guarded('warn'), error: guarded('error') };
}
