/**
 * Where remote servers have been ready, and what a refusal there means: something else answers in the place of a server
 * that is away for a while, such as a router that has no way to it, or a page that says so. A place that never had a
 * server is told as it is.
 */
import type { SessionKey } from '../../machines/connection.events.js';
import { RequestLostError } from '../protocol/protocol-client.js';
import type { Sessions } from '../sessions.js';
import { TransportError, type RawFailure } from '../transports/session-transport.js';
import type { EffectSpec } from './effect.js';

const THERE_BEFORE =
  'The server was there before. Until it is back, it is tried again like any that was lost.';

export class KnownPlaces {
  /** The address at which each server was ready last, by its name. */
  readonly #urls = new Map<string, string>();

  note(name: string, url: string | undefined): void {
    if (url !== undefined) this.#urls.set(name, url);
  }

  forget(name: string): void {
    this.#urls.delete(name);
  }

  /** The same step of an attempt; where another one answers at a known place, it fails as one that can be tried again. */
  judging<TOutput extends object, TInput extends SessionKey>(
    sessions: Sessions,
    step: EffectSpec<TOutput, TInput>,
  ): EffectSpec<TOutput, TInput> {
    const run = async (key: TInput, signal: AbortSignal): Promise<TOutput> => {
      try {
        return await step.run(key, signal);
      } catch (error) {
        throw this.#isKnown(key.name, sessions.get(key)?.transport?.url) ? asAway(error) : error;
      }
    };
    return { ...step, run };
  }

  #isKnown(name: string, url: string | undefined): boolean {
    return url !== undefined && this.#urls.get(name) === url;
  }
}

function asAway(error: unknown): unknown {
  const isFailure = error instanceof TransportError || error instanceof RequestLostError;
  if (!isFailure || !isOfAnother(error.failure)) return error;
  const { failure } = error;
  // Its path was right before.
  const hint = failure.http?.status === 404 ? THERE_BEFORE : (failure.hint ?? THERE_BEFORE);
  return new TransportError({ ...failure, code: 'connection-lost', hint }, { cause: error });
}

/** A page, a redirect, or the word of a router that knows no such place or only serves files there. */
function isOfAnother({ code, http }: RawFailure): boolean {
  if (code === 'http-not-mcp') return true;
  const status = http?.status ?? 0;
  return code === 'http-status' && ((status >= 300 && status < 400) || status === 404 || status === 405);
}
