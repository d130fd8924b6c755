/** Finds tools by words of their name, title, description and parameters. The same query always gives the same order. */
import MiniSearch from 'minisearch';
import type { Tool } from '../mcp/server-offers.js';
import { isJsonObject } from '../json/json-object.js';

interface Document {
  readonly id: number;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: string;
}

/** The weight of a word in each field. */
const WEIGHTS = { name: 4, title: 3, description: 1.5, parameters: 1 };
/** Words with fewer letters must match exactly. */
const MIN_LETTERS = 4;
/** From this length on, two letters may be wrong instead of one: two swapped letters count as two wrong ones. */
const LONG_LETTERS = 7;

export class ToolIndex {
  readonly #tools: readonly Tool[];
  readonly #index: MiniSearch<Document>;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#index = new MiniSearch<Document>({
      fields: Object.keys(WEIGHTS),
      tokenize: words,
      searchOptions: {
        boost: WEIGHTS,
        prefix: (term) => term.length >= MIN_LETTERS,
        fuzzy: ({ length }) => length >= MIN_LETTERS && (length >= LONG_LETTERS ? 2 : 1),
      },
    });
    this.#index.addAll(tools.map(toDocument));
  }

  /** The best matches, best first. */
  search(query: string, limit: number): readonly Tool[] {
    const found = this.#index
      .search(query)
      .toSorted((a, b) => b.score - a.score || Number(a.id) - Number(b.id));
    return found.slice(0, limit).flatMap(({ id }) => this.#tools[Number(id)] ?? []);
  }
}

function toDocument({ name, title = '', description = '', inputSchema }: Tool, id: number): Document {
  const parameters = Object.entries(inputSchema.properties ?? {}).map(([parameter, schema]) =>
    isJsonObject(schema) && typeof schema['description'] === 'string'
      ? `${parameter} ${schema['description']}`
      : parameter,
  );
  return { id, name, title, description, parameters: parameters.join(' ') };
}

/** Splits at everything that is not a letter or digit, and `readFile` into `read` and `file`. */
function words(text: string): string[] {
  const apart = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}
