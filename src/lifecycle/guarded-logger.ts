/**
 * The logger of a host, whose errors do no harm: an error that it throws, or a promise that it rejects, is dropped, since
 * there is nowhere else to report it.
 */
import { silentLogger, type Logger } from '../ports.js';

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
