/**
 * `src/search` finds tools by words. This file is the index: BM25+ over names, titles, descriptions and parameters, with
 * prefixes and typing errors. It follows a list of tools, and its answers depend only on that list and the query.
 */
import { setImmediate } from 'node:timers/promises';
import MiniSearch, { type SearchResult } from 'minisearch';
import type { Tool } from '../mcp/server-offers.js';
import { Mutex } from '../async/semaphore.js';
import { isJsonObject } from '../json/json-object.js';
import { compareText } from '../text/visible-text.js';
import { stemmer } from 'stemmer';

/** What the index reads of a tool. */
export type SearchedTool = Pick<Tool, 'name' | 'title' | 'description' | 'inputSchema'>;

/** A part of a tool in which words are found. */
export type ToolField = 'name' | 'title' | 'description' | 'parameters';

/** A tool that matches a query. */
export interface ToolMatch<T extends SearchedTool> {
  readonly tool: T;
  /** How well it matches: above 0, and comparable only within one answer. */
  readonly score: number;
  /** The stems of the words that matched, and the fields of the tool that contain them. */
  readonly matches: Readonly<Record<string, readonly ToolField[]>>;
}

/** Limits of a search in an index. */
export interface IndexedSearch<T> {
  /** Maximum number of matches. */
  readonly limit: number;
  /** Which tools may match. Default: all. */
  readonly accepts?: (tool: T) => boolean;
}

type Document = { readonly id: number } & Readonly<Record<ToolField, string>>;

/** The weight of a word in each field. */
const WEIGHTS: Readonly<Record<ToolField, number>> = { name: 4, title: 3, description: 1.5, parameters: 1 };
const FIELDS = Object.keys(WEIGHTS);
/** Words with fewer letters must match exactly. */
const MIN_LETTERS = 4;
/** From this length of the stem on, two letters may be wrong instead of one: two swapped letters count as two wrong ones. */
const LONG_LETTERS = 6;
/** Characters of a field that are indexed. */
const MAX_CHARACTERS = 10_000;
/** Tools that are indexed in one turn of the event loop. */
const TOOLS_IN_A_TURN = 100;
/** Scores that differ less are equal: the mean length of a field depends on the order in which tools came. */
const SCORE_DIGITS = 6;
const NEVER = new AbortController().signal;

export class ToolIndex<T extends SearchedTool> {
  readonly #index = new MiniSearch<Document>({
    fields: FIELDS,
    tokenize: wordsOf,
    processTerm: toTerm,
    searchOptions: {
      boost: WEIGHTS,
      prefix: (term) => term.length >= MIN_LETTERS,
      fuzzy: ({ length }) => length >= MIN_LETTERS && (length >= LONG_LETTERS ? 2 : 1),
    },
  });
  readonly #turns = new Mutex();
  #tools: readonly T[] = [];
  #ids: ReadonlyMap<T, number> = new Map();
  #byId: ReadonlyMap<number, T> = new Map();
  #lastId = 0;

  /** The best matches in `tools`, best first; equal ones by name. The index is brought up to date with the list first. */
  async search(
    tools: readonly T[],
    query: string,
    { limit, accepts }: IndexedSearch<T>,
  ): Promise<readonly ToolMatch<T>[]> {
    return this.#turns.take(
      'index',
      async () => {
        if (tools !== this.#tools) await this.#follow(tools);
        const filter = accepts && (({ id }: SearchResult) => accepts(this.#toolOf(id as number)));
        const found = this.#index.search(query, filter && { filter }).map((result) => this.#toMatch(result));
        found.sort((a, b) => b.score - a.score || compareText(a.tool.name, b.tool.name));
        return found.slice(0, limit);
      },
      NEVER,
    );
  }

  /** Replaces only what has changed. Tools are compared by identity. */
  async #follow(tools: readonly T[]): Promise<void> {
    const ids = new Map<T, number>();
    let work = 0;
    const takeTurn = async (): Promise<void> => {
      work += 1;
      if (work % TOOLS_IN_A_TURN === 0) await setImmediate();
    };
    const kept = new Set(tools);
    for (const [tool, id] of this.#ids) {
      if (kept.has(tool)) continue;
      this.#index.remove(toDocument(tool, id));
      await takeTurn();
    }
    for (const tool of kept) {
      const known = this.#ids.get(tool);
      ids.set(tool, known ?? (this.#lastId += 1));
      if (known !== undefined) continue;
      this.#index.add(toDocument(tool, this.#lastId));
      await takeTurn();
    }
    this.#tools = tools;
    this.#ids = ids;
    this.#byId = new Map([...ids].map(([tool, id]) => [id, tool]));
  }

  #toMatch({ id, score, match }: SearchResult): ToolMatch<T> {
    return {
      tool: this.#toolOf(id as number),
      score: Number(score.toFixed(SCORE_DIGITS)),
      matches: match as Readonly<Record<string, ToolField[]>>,
    };
  }

  #toolOf(id: number): T {
    return this.#byId.get(id) as T;
  }
}

function toDocument({ name, title = '', description = '', inputSchema }: SearchedTool, id: number): Document {
  const parameters = Object.entries(inputSchema.properties ?? {}).map(([parameter, schema]) =>
    isJsonObject(schema) && typeof schema['description'] === 'string'
      ? `${parameter} ${schema['description']}`
      : parameter,
  );
  return {
    id,
    name,
    title: cut(title),
    description: cut(description),
    parameters: cut(parameters.join(' ')),
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_CHARACTERS);
}

// The words of a text, in the form in which they are compared: lower case, without stop words, and stemmed (Porter, English).

/** Words that say nothing about a tool. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be by can do does for from have how i if in into is it its let make me my of on or our please ' +
    'should so some that the their them there these this those to us use used using want we what when where which who will ' +
    'with you your'
  ).split(' '),
);
const ENGLISH = /^[a-z]+$/;

/** Splits at everything that is not a letter or digit, and `readFile` into `read` and `file`. */
export function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** The form in which a word is compared; null if it says nothing about a tool. */
export function toTerm(word: string): string | null {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return null;
  return ENGLISH.test(lower) ? stemmer(lower) : lower;
}
