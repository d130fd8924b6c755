/** The entry of a server whose connection of the gateway's rests until it is used. */
import type { ServerSpec } from '../config/merge.js';

/** `idleStopMs` is for an entry that does not say it. The hash stays: what somebody approved is the entry as it is written. */
export function restingEntry(spec: ServerSpec, idleStopMs: number): ServerSpec {
  return { ...spec, config: { idleStopMs, ...spec.config, start: 'lazy' } };
}
