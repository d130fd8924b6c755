/**
 * A review store that answers or fails only when a test says so. What it remembers outlives the host that uses it, as
 * on a disk.
 */
import type { ReviewedTool } from '../../machines/policy/review.js';
import type { ReviewStore } from '../../src/review/review-store.js';
import type { ReviewedServer } from '../../src/catalog/catalogs.js';

interface Waiting {
  readonly answer: () => void;
  readonly fail: () => void;
}

export class HeldStore implements ReviewStore {
  /** The accepted versions of the one server, by tool; undefined before its first list. */
  remembered: Map<string, ReviewedTool> | undefined;
  /** Called with the tools of a first list when they are stored. */
  onfirst: (tools: readonly ReviewedTool[]) => void = () => {};
  readonly #waiting: Waiting[] = [];
  readonly #watching = new Set<(hash: string) => void>();

  get pending(): number {
    return this.#waiting.length;
  }

  baseline(_: ReviewedServer, first: readonly ReviewedTool[]): Promise<readonly ReviewedTool[]> {
    return this.#held(() => {
      if (this.remembered === undefined) {
        this.remembered = new Map(first.map((tool) => [tool.name, tool]));
        this.onfirst(first);
      }
      return [...this.remembered.values()];
    });
  }

  accept(_: ReviewedServer, tools: readonly ReviewedTool[]): Promise<void> {
    return this.#held(() => this.remember(tools));
  }

  watch(onChange: (hash: string) => void): () => void {
    this.#watching.add(onChange);
    return () => this.#watching.delete(onChange);
  }

  /** Another host accepts tools of the server. */
  acceptElsewhere(hash: string, tools: readonly ReviewedTool[]): void {
    this.remember(tools);
    for (const onChange of this.#watching) onChange(hash);
  }

  remember(tools: readonly ReviewedTool[]): void {
    this.remembered ??= new Map();
    for (const tool of tools) this.remembered.set(tool.name, tool);
  }

  /** Answers the oldest pending request. */
  answer(): void {
    this.#waiting.shift()?.answer();
  }

  fail(): void {
    this.#waiting.shift()?.fail();
  }

  /** The waiting host was killed: drops the pending requests. */
  forsake(): void {
    this.#waiting.length = 0;
  }

  #held<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ answer: () => resolve(work()), fail: () => reject(new Error('no disk')) });
    });
  }
}
