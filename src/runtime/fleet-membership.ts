/**
 * The place of a troupe in its fleet. What a host of a fleet needs is loaded with the first troupe that has one; what happens
 * before that is made up for.
 */
import type { Presence, PresenceParts, ViewerRequest } from '../fleet/presence.js';
import type { Writable } from 'node:stream';

export class FleetMembership {
  readonly #parts: PresenceParts;
  #presence: Presence | undefined;
  #address: string | undefined;
  #isDraining = false;
  #begun: Promise<void> | undefined;
  #isOver = false;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  begin(): Promise<void> {
    return (this.#begun ??= this.#begin());
  }

  /** The gateway listens there. */
  serves(address: string): void {
    this.#address = address;
    this.#presence?.serves(address);
  }

  /** It takes no new sessions. */
  drains(): void {
    this.#isDraining = true;
    this.#presence?.drains();
  }

  admits(request: ViewerRequest): boolean {
    return this.#presence?.admits(request) ?? false;
  }

  watch(page: Writable): Promise<void> {
    return this.#parts.watch(page);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#begun;
    await this.#presence?.end();
  }

  async #begin(): Promise<void> {
    const { Presence } = await import('../fleet/presence.js');
    if (this.#isOver) return;
    this.#presence = new Presence(this.#parts);
    this.#presence.begin();
    if (this.#address !== undefined) this.#presence.serves(this.#address);
    if (this.#isDraining) this.#presence.drains();
  }
}
