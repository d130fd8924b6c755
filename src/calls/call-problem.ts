/** Errors of the caller. Repeating the call cannot help, so they are a `TypeError` and not an outcome of the call. */
import { writeJson } from '../json/write-json.js';
import { messageOf } from '../text/error-message.js';
import type { InternalCallOptions } from './call.js';

/** What is wrong with the arguments or options of a call, by a cheap check; undefined if nothing is. */
export function callProblem(args: unknown, options: InternalCallOptions): TypeError | undefined {
  if (typeof options !== 'object' || options === null) {
    return new TypeError('The options of a call must be an object.');
  }
  const { signal, timeoutMs, totalTimeoutMs, retryCalls, coerceArguments, meta } = options;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return new TypeError('The arguments of a call must be an object.');
  }
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    return new TypeError('The signal of a call must be an AbortSignal.');
  }
  if (meta !== undefined && (typeof meta !== 'object' || meta === null || Array.isArray(meta))) {
    return new TypeError("'meta' of a call must be an object.");
  }
  if (!isDuration(timeoutMs)) return notADuration('timeoutMs');
  if (!isDuration(totalTimeoutMs)) return notADuration('totalTimeoutMs');
  if (retryCalls !== undefined && retryCalls !== 'safe' && retryCalls !== 'never') {
    return new TypeError("'retryCalls' of a call must be 'safe' or 'never'.");
  }
  if (coerceArguments !== undefined && typeof coerceArguments !== 'boolean') {
    return new TypeError("'coerceArguments' of a call must be true or false.");
  }
  return undefined;
}

function isDuration(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value >= 0);
}

function notADuration(option: string): TypeError {
  return new TypeError(`'${option}' of a call must be a number of milliseconds, at least 0.`);
}

/** Explains why sending a call failed; undefined if its arguments and its `meta` are not the reason. */
export function unsendable({ args, meta }: { args: unknown; meta?: unknown }): TypeError | undefined {
  return whyNoJson('The arguments of the call', args) ?? whyNoJson("'meta' of the call", meta);
}

function whyNoJson(what: string, value: unknown): TypeError | undefined {
  try {
    // The message and its parameters are around it.
    writeJson([[value]]);
    return undefined;
  } catch (cause) {
    const why = messageOf(cause);
    return new TypeError(`${what} cannot be sent as JSON: ${why}`, { cause });
  }
}
