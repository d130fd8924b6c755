/**
 * The tools of a source in the form that a framework expects: each is made once and looked up whenever the framework
 * asks, so that a running agent sees the current tools. Keeps the last thousand tools that are gone, so that Troupe can
 * answer a late call and say why the tool is gone.
 */
import type { CatalogTool } from '../catalog/registry.js';
import type { ToolSource } from './tool-source.js';

const MAX_GONE = 1_000;

export class MadeTools<T> {
  readonly #source: Pick<ToolSource, 'tools'>;
  readonly #make: (tool: CatalogTool) => T;
  readonly #made = new WeakMap<CatalogTool, T>();
  /** Tools that are gone, by name; the oldest first. */
  readonly #gone = new Map<string, T>();
  #from: readonly CatalogTool[] | undefined;
  #present: ReadonlyMap<string, T> = new Map();

  constructor(source: Pick<ToolSource, 'tools'>, make: (tool: CatalogTool) => T) {
    this.#source = source;
    this.#make = make;
  }

  /** The tools that are offered now, by name. */
  get present(): ReadonlyMap<string, T> {
    const { tools } = this.#source;
    if (tools === this.#from) return this.#present;
    this.#from = tools;
    const before = this.#present;
    this.#present = new Map(tools.map((tool) => [tool.name, this.#madeOf(tool)]));
    for (const [name, made] of before) if (!this.#present.has(name)) this.#keep(name, made);
    return this.#present;
  }

  /** Also finds a tool that was offered earlier. */
  get(name: string): T | undefined {
    return this.present.get(name) ?? this.#gone.get(name);
  }

  #keep(name: string, made: T): void {
    this.#gone.delete(name);
    this.#gone.set(name, made);
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size <= MAX_GONE) break;
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

/** A part of the tools of a source: the same list until its tools change. */
export function listOf(
  source: Pick<ToolSource, 'tools'>,
  choose: () => readonly CatalogTool[],
): Pick<ToolSource, 'tools'> {
  let from: readonly CatalogTool[] | undefined;
  let chosen: readonly CatalogTool[] = [];
  return {
    get tools() {
      const { tools } = source;
      if (tools !== from) chosen = choose();
      from = tools;
      return chosen;
    },
  };
}
