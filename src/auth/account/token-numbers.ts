/** The numbers that stand for tokens in the chart, so that no token enters it. */

/** More than a chart refers to at once: the token in use, the refused one, and one being read. */
const MAX_TOKENS = 8;

export class TokenNumbers {
  /** Least recently used first. */
  readonly #tokens = new Map<number, string>();
  #last = 0;

  /** 0 stands for no token. A token keeps its number while it is among the most recently used. */
  numberOf(token: string | undefined): number {
    if (token === undefined) return 0;
    const number = this.#find(token) ?? (this.#last += 1);
    this.#tokens.delete(number);
    this.#tokens.set(number, token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
    return number;
  }

  tokenOf(number: number): string | undefined {
    return this.#tokens.get(number);
  }

  #find(token: string): number | undefined {
    for (const [number, known] of this.#tokens) if (known === token) return number;
    return undefined;
  }
}
