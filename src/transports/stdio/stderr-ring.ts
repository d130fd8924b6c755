/** The last lines of a server's stderr: at most 200 lines and 64 Ki characters, the oldest dropped first. */
const MAX_LINES = 200;
const MAX_CHARACTERS = 64 * 1024;

export class StderrRing {
  readonly #lines: string[] = [];
  #characters = 0;

  push(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    while (this.#lines.length > MAX_LINES || this.#characters > MAX_CHARACTERS) {
      this.#characters -= this.#lines.shift()?.length ?? 0;
    }
  }

  /** Oldest first. */
  lines(): readonly string[] {
    return [...this.#lines];
  }
}
