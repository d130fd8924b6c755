/**
 * How every effect of the chart runs: bounded, abortable, and settling with a plain record.
 *
 * E1. An effect settles with its output plus `startedAt` and `at`, or rejects with a `Failure`; never with an `Error`.
 * E2. It is over when its limit is over or its state was left, whatever the work does; the work's signal is aborted.
 */
import { fromPromise } from 'xstate';
import type { Settled } from '../../machines/connection.events.js';
import { LONGEST_DELAY_MS } from '../../machines/policy/backoff.js';
import type { Failure, FailurePhase } from '../../machines/policy/failure.js';
import { cutText } from '../cut-text.js';
import type { Clock } from '../ports.js';
import { maskFailure } from '../secrets.js';
import type { EffectPorts } from './effect-ports.js';
import { ProtocolFailure, RequestLostError, RpcError } from '../protocol/protocol-client.js';
import { messageOf } from '../thrown.js';
import { TransportError, type RawFailure } from '../transports/session-transport.js';

/** The output of an effect that has nothing to tell but that it is done. */
export type Nothing = Record<never, never>;

export interface EffectSpec<TOutput extends object, TInput> {
  readonly phase: FailurePhase;
  run(input: TInput, signal: AbortSignal): Promise<TOutput>;
  /** Milliseconds the work may take; 0, or no function, means no limit. */
  readonly limitMs?: (input: TInput) => number;
  /** What it means when the limit is over. */
  readonly expired?: (input: TInput, limitMs: number) => RawFailure;
  /** What is known about the server when it failed, added where the failure does not say. */
  readonly details?: (input: TInput) => Partial<RawFailure>;
}

export function effect<TOutput extends object, TInput extends { readonly name: string }>(
  ports: Pick<EffectPorts, 'clock' | 'servers'>,
  spec: EffectSpec<TOutput, TInput>,
) {
  return fromPromise<TOutput & Settled, TInput>(({ input, signal }) => runEffect(ports, spec, input, signal));
}

/** Runs an effect, or a part of a longer one. */
export async function runEffect<TOutput extends object, TInput extends { readonly name: string }>(
  { clock, servers }: Pick<EffectPorts, 'clock' | 'servers'>,
  spec: EffectSpec<TOutput, TInput>,
  input: TInput,
  signal: AbortSignal,
): Promise<TOutput & Settled> {
  const startedAt = clock.now();
  try {
    const limitMs = spec.limitMs?.(input) ?? 0;
    const output = await withinLimit(clock, signal, limitMs, (inner) => spec.run(input, inner));
    return { ...output, ...spanSince(clock, startedAt) };
  } catch (error) {
    const raw =
      error instanceof LimitOver
        ? (spec.expired?.(input, error.limitMs) ?? toRawFailure(error))
        : toRawFailure(error);
    const failure: Failure = { ...spec.details?.(input), ...raw, phase: spec.phase, at: clock.now() };
    return Promise.reject(maskFailure(failure, servers.mask(input.name)));
  }
}

/** When an effect began and ended. It takes no less than no time where the clock was set back meanwhile. */
export function spanSince(clock: Clock, startedAt: number): Settled {
  const at = clock.now();
  return { startedAt: Math.min(startedAt, at), at };
}

class LimitOver extends Error {
  constructor(readonly limitMs: number) {
    super(`It took longer than ${limitMs} ms.`);
  }
}

/** Runs `work` until it settles, `outer` aborts or `limitMs` is over, whichever comes first. */
export function withinLimit<T>(
  clock: Clock,
  outer: AbortSignal,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (outer.aborted) return Promise.reject(new LeftState());
  return new Promise<T>((resolve, reject) => {
    const inner = new AbortController();
    const stop = (): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      outer.removeEventListener('abort', onAbort);
    };
    const giveUp = (reason: Error): void => {
      stop();
      reject(reason);
      inner.abort(reason);
    };
    const onAbort = (): void => giveUp(new LeftState());
    const begin = async (): Promise<T> => work(inner.signal);
    const timer = isLimit(limitMs)
      ? clock.setTimeout(() => giveUp(new LimitOver(limitMs)), limitMs)
      : undefined;
    outer.addEventListener('abort', onAbort, { once: true });
    begin().then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Longer than a timer of the platform can be is for ever. */
function isLimit(ms: number): boolean {
  return ms > 0 && ms <= LONGEST_DELAY_MS;
}

class LeftState extends Error {
  constructor() {
    super('The state that asked for this was left.');
  }
}

/** What kept the work from succeeding, as a sentence; undefined where nobody asks for it any more. */
export function whyFailed(error: unknown, signal: AbortSignal): string | undefined {
  if (signal.reason instanceof LeftState) return undefined;
  return toRawFailure(signal.aborted ? signal.reason : error).message;
}

/** Reads what the runtime's own code throws; anything else is a bug and told as `internal`. */
export function toRawFailure(error: unknown): RawFailure {
  if (
    error instanceof TransportError ||
    error instanceof RequestLostError ||
    error instanceof ProtocolFailure
  ) {
    return error.failure;
  }
  if (error instanceof RpcError) {
    return {
      code: 'server-error',
      message: cutText(`The server answered with error ${error.rpcCode}: ${error.message}`),
      rpcCode: error.rpcCode,
    };
  }
  return { code: 'internal', message: messageOf(error) };
}
