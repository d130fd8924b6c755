/**
 * Which era each server speaks, as its last handshake showed. An old verdict ends after a day, because servers are updated;
 * a new one ends when it is refused. Kept for the life of the troupe.
 */
import type { Era } from '../../machines/policy/protocol-era.js';
import type { Clock } from '../ports.js';

const OLD_LASTS_MS = 24 * 60 * 60 * 1_000;
/** More servers than one troupe has; the oldest verdict is forgotten. */
const MAX_VERDICTS = 1_000;

export class EraVerdicts {
  readonly #verdicts = new Map<string, { readonly era: Era; readonly at: number }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** `server`: what the verdict is of, such as the fingerprint of its entry. */
  get(server: string): Era | undefined {
    const verdict = this.#verdicts.get(server);
    if (verdict === undefined) return undefined;
    const isOver = verdict.era === 'old' && Math.abs(this.clock.now() - verdict.at) >= OLD_LASTS_MS;
    return isOver ? undefined : verdict.era;
  }

  /** An old verdict that is confirmed keeps its age. Without an era, there is no verdict from then on. */
  keep(server: string, era: Era | undefined): void {
    if (this.get(server) === era) return;
    this.#verdicts.delete(server);
    if (era === undefined) return;
    this.#verdicts.set(server, { era, at: this.clock.now() });
    if (this.#verdicts.size <= MAX_VERDICTS) return;
    for (const oldest of this.#verdicts.keys()) return void this.#verdicts.delete(oldest);
  }
}
