/**
 * A review store whose answers come when a test says so, and fail when it says so. What it remembers outlives whoever
 * asks it, as a disk would.
 */
import type { ReviewedTool } from '../../machines/policy/review.js';
import type { ReviewStore } from '../../src/review/review-store.js';
import type { ReviewedServer } from '../../src/catalog/catalogs.js';

interface Waiting {
  readonly answer: () => void;
  readonly fail: () => void;
}

export class HeldStore implements ReviewStore {
  /** What is remembered of the one server, by tool; undefined before its first list was. */
  remembered: Map<string, ReviewedTool> | undefined;
  /** Hears of the tools of a first list, when they are remembered. */
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

  /** Somebody else accepts tools of that server. */
  acceptElsewhere(hash: string, tools: readonly ReviewedTool[]): void {
    this.remember(tools);
    for (const onChange of this.#watching) onChange(hash);
  }

  remember(tools: readonly ReviewedTool[]): void {
    this.remembered ??= new Map();
    for (const tool of tools) this.remembered.set(tool.name, tool);
  }

  /** Answers whoever has waited longest. */
  answer(): void {
    this.#waiting.shift()?.answer();
  }

  fail(): void {
    this.#waiting.shift()?.fail();
  }

  /** Whoever waits was killed: what was asked does not happen any more. */
  forsake(): void {
    this.#waiting.length = 0;
  }

  #held<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ answer: () => resolve(work()), fail: () => reject(new Error('no disk')) });
    });
  }
}
