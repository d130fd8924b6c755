/**
 * `src/actors` holds the effects of the connection's and the configuration's charts: what a chart invokes to act on the
 * world. This file is how every effect runs: bounded, abortable, and settling with a plain record.
 *
 * E1. An effect settles with its output plus `startedAt` and `at`, or rejects with a `Failure`; never with an `Error`.
 * E2. It ends when its limit is over or its state is exited, whatever the work does; the work's signal is aborted.
 */
import { fromPromise, type NonReducibleUnknown } from 'xstate';
import type { Settled } from '../../machines/connection/connection.events.js';
import type { Failure, FailurePhase } from '../../machines/policy/failure.js';
import { cutText } from '../text/visible-text.js';
import type { Clock } from '../ports.js';
import { maskFailure } from '../secrets/secrets.js';
import type { EffectPorts } from './effect-ports.js';
import { ProtocolFailure, RequestLostError, RpcError } from '../protocol/protocol-client.js';
import { messageOf } from '../text/error-message.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';
import { LeftState, LimitOver, withinLimit } from '../async/timers.js';

/** The output of an effect that reports only that it is done. */
export type Nothing = Record<never, never>;

export interface EffectSpec<TOutput extends object, TInput> {
  readonly phase: FailurePhase;
  run(input: TInput, signal: AbortSignal): Promise<TOutput>;
  /** Milliseconds the work may take; 0, or no function, means no limit. */
  readonly limitMs?: (input: TInput) => number;
  /** The failure if the limit is exceeded. A promise must settle soon and never reject. */
  readonly expired?: (input: TInput, limitMs: number) => RawFailure | Promise<RawFailure>;
  /** What is known about the server when it failed; added for fields that the failure lacks. */
  readonly details?: (input: TInput) => Partial<RawFailure>;
  /** What to do about a failure, beside its own hint. */
  readonly advice?: (input: TInput, failure: RawFailure) => string | undefined;
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
    const expired = error instanceof LimitOver ? spec.expired?.(input, error.limitMs) : undefined;
    const raw = (expired instanceof Promise ? await expired : expired) ?? toRawFailure(error);
    const known: RawFailure = { ...spec.details?.(input), ...raw };
    const advice = spec.advice?.(input, known);
    const hint = [advice === undefined ? known.hint : withFullStop(known.hint), advice]
      .filter((text) => text !== undefined)
      .join(' ');
    const failure: Failure = { ...known, ...(hint !== '' && { hint }), phase: spec.phase, at: clock.now() };
    return Promise.reject(maskFailure(failure, servers.mask(input.name)));
  }
}

/** When an effect began and ended. If the clock was set back meanwhile, it took no time. */
export function spanSince(clock: Clock, startedAt: number): Settled {
  const at = clock.now();
  return { startedAt: Math.min(startedAt, at), at };
}

/** Why the work failed, as a sentence; undefined if its state was exited. */
export function whyFailed(error: unknown, signal: AbortSignal): string | undefined {
  if (signal.reason instanceof LeftState) return undefined;
  return toRawFailure(signal.aborted ? signal.reason : error).message;
}

/** Reads what the runtime's own code throws; anything else is a bug and becomes `internal`. */
export function toRawFailure(error: unknown): RawFailure {
  if (
    error instanceof TransportError ||
    error instanceof RequestLostError ||
    error instanceof ProtocolFailure
  ) {
    return error.failure;
  }
  if (error instanceof RpcError) {
    const request = error.method === undefined ? '' : ` ${error.method}`;
    return {
      code: 'server-error',
      message: cutText(`The server answered${request} with error ${error.rpcCode}: ${error.message}`),
      rpcCode: error.rpcCode,
    };
  }
  return { code: 'internal', message: messageOf(error) };
}

export function plainEffect<TOutput extends object, TInput = NonReducibleUnknown>(
  failureOf: (error: unknown) => object,
  work: (input: TInput) => Promise<TOutput>,
) {
  return fromPromise<TOutput, TInput>(async ({ input }) => {
    try {
      return await work(input);
    } catch (error) {
      return Promise.reject(failureOf(error));
    }
  });
}

function withFullStop(text: string | undefined): string | undefined {
  return text === undefined || /[.!?:;]$/.test(text) ? text : `${text}.`;
}
