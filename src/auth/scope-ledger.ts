/**
 * Which scopes were asked for and which are wanted beyond. What a server demands again although it was asked for is no
 * reason to ask again: so a step-up ends, whatever the server says.
 */
export class ScopeLedger {
  readonly #asked = new Set<string>();
  readonly #wanted = new Set<string>();

  /** Notes what a server demands. False where all of it was granted or asked for already. */
  demand(scopes: readonly string[], granted: readonly string[]): boolean {
    if (scopes.every((scope) => granted.includes(scope) || this.#asked.has(scope))) return false;
    for (const scope of scopes) this.#wanted.add(scope);
    return true;
  }

  /** What to ask for, so that nothing that was granted is lost; `usual` where nothing is wanted beyond. */
  toAsk(granted: readonly string[], usual: readonly string[]): readonly string[] {
    return this.#wanted.size === 0 ? usual : [...new Set([...granted, ...this.#asked, ...this.#wanted])];
  }

  /** These were asked for, and whoever was asked has answered. */
  answered(scopes: readonly string[]): void {
    for (const scope of scopes) this.#asked.add(scope);
    this.#wanted.clear();
  }
}
