/** Who wants which name: whether two tools want the same, without going through all of them at every change. */
export class NameClaims {
  #lists: ReadonlySet<readonly string[]> = new Set();
  readonly #counts = new Map<string, number>();
  /** Claims beyond the first of each name. */
  #excess = 0;

  get areContested(): boolean {
    return this.#excess > 0;
  }

  /** These lists of names are wanted now. A list that was wanted before counts as unchanged. */
  become(lists: readonly (readonly string[])[]): void {
    const now = new Set(lists);
    for (const list of this.#lists) if (!now.has(list)) this.#count(list, -1);
    for (const list of now) if (!this.#lists.has(list)) this.#count(list, 1);
    this.#lists = now;
  }

  #count(names: readonly string[], by: 1 | -1): void {
    for (const name of names) {
      const before = this.#counts.get(name) ?? 0;
      const after = before + by;
      if (after === 0) this.#counts.delete(name);
      else this.#counts.set(name, after);
      this.#excess += Math.max(0, after - 1) - Math.max(0, before - 1);
    }
  }
}
