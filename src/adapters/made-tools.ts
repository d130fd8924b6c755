/**
 * The tools of a source as a framework wants them: each made once, and looked up whenever the framework asks, so that a
 * running agent sees what is there now. Keeps the last thousand that went, so that a call that comes too late is answered
 * by Troupe, which knows where the tool went.
 */
import type { CatalogTool } from '../catalog/registry.js';
import type { ToolSource } from './tool-source.js';

const MOST_GONE = 1_000;

export class MadeTools<T> {
  readonly #source: ToolSource;
  readonly #make: (tool: CatalogTool) => T;
  readonly #made = new WeakMap<CatalogTool, T>();
  /** By name, the one that went first at the front. */
  readonly #gone = new Map<string, T>();
  #from: readonly CatalogTool[] | undefined;
  #present: ReadonlyMap<string, T> = new Map();

  constructor(source: ToolSource, make: (tool: CatalogTool) => T) {
    this.#source = source;
    this.#make = make;
  }

  /** Those that are offered now, by name. */
  get present(): ReadonlyMap<string, T> {
    const { tools } = this.#source;
    if (tools === this.#from) return this.#present;
    this.#from = tools;
    const before = this.#present;
    this.#present = new Map(tools.map((tool) => [tool.name, this.#madeOf(tool)]));
    for (const [name, made] of before) if (!this.#present.has(name)) this.#keep(name, made);
    return this.#present;
  }

  /** Also one that was offered before. */
  get(name: string): T | undefined {
    return this.present.get(name) ?? this.#gone.get(name);
  }

  #keep(name: string, made: T): void {
    this.#gone.delete(name);
    this.#gone.set(name, made);
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size <= MOST_GONE) break;
      this.#gone.delete(oldest);
    }
  }

  #madeOf(tool: CatalogTool): T {
    const before = this.#made.get(tool);
    if (before !== undefined) return before;
    const made = this.#make(tool);
    this.#made.set(tool, made);
    return made;
  }
}
