/**
 * `src/failures` turns failures into errors and back; `machines/policy` decides what a failure leads to. This file is a
 * failure on its way to a chart: without phase and time, which are added when an effect settles.
 */

import type { Failure } from '../../machines/policy/failure.js';

/** A failure without phase and time; whoever reports it adds them. */
export type RawFailure = Omit<Failure, 'phase' | 'at'>;

/** The error of every transport: a failure record for the machines, wrapped so that it can be thrown. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly failure: RawFailure;
  /** For a failed `send`: whether the server may have acted on the message. */
  readonly written: boolean;

  constructor(failure: RawFailure, options: { readonly written?: boolean; readonly cause?: unknown } = {}) {
    super(failure.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.written = options.written ?? false;
  }
}
