/**
 * The one validator of a troupe: keeps what was made of each schema, by its text, so that it is made once however many
 * tools, refreshes and sessions have it. What judges any schema loads when it is first needed: what fits a plain one can be
 * told without it.
 *
 * V1. `check` never throws and never takes long. What cannot be judged is `unknown`, and whoever asked goes on without.
 * V2. A schema that took too long, or cannot be used, is not tried again while it is remembered. A value that nests too
 *     deeply is not the fault of its schema.
 */
import { jsonSize } from '../catalog/json-size.js';
import { messageOf } from '../thrown.js';
import type { SchemaProblem } from './explain.js';
import type { Check, prepareSchema } from './json-schema.js';
import { plainSchema, type Fits } from './plain-schema.js';

export type Verdict =
  | { readonly kind: 'fits' }
  | { readonly kind: 'misfit'; readonly problems: readonly SchemaProblem[] }
  /** Nobody can tell. Why is said once for each schema. */
  | { readonly kind: 'unknown'; readonly why?: string };

/** Schemas together; the ones that were not used for longest go first. */
const MOST_KEPT_CHARACTERS = 4 * 1_048_576;
const LONGEST_SCHEMA = 65_536;
/** Characters of a value. */
const LARGEST_VALUE = 1_048_576;

const FITS: Verdict = { kind: 'fits' };
const UNKNOWN: Verdict = { kind: 'unknown' };

/** Words that ask for nothing, beside `type: 'object'`. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['$schema', '$comment', 'title', 'description', 'examples']);

/** Whether a schema asks for anything: it is looked at for every call. */
const asking = new WeakMap<object, boolean>();

interface Entry {
  readonly text: string;
  /** For a plain schema, what can be said without the validator. */
  readonly fits: Fits | undefined;
  /** Undefined before it is needed. */
  prepared: Prepared | undefined;
  isTold: boolean;
}

/** `why` it cannot be used. */
type Prepared = { readonly check: Check } | { readonly why: string };

export class SchemaValidator {
  readonly #hasFormats: boolean;
  readonly #byText = new Map<string, Entry>();
  /** Schemas whose text need not be made again. */
  readonly #texts = new WeakMap<object, string>();
  /** That of the schema used last, which is the last one to go. */
  #latest: string | undefined;
  #kept = 0;
  #prepare: typeof prepareSchema | undefined;
  #loading: Promise<void> | undefined;

  /** `formats` makes values of a known `format` be checked; otherwise it says nothing. */
  constructor({ formats = false }: { readonly formats?: boolean } = {}) {
    this.#hasFormats = formats;
  }

  get isLoaded(): boolean {
    return this.#prepare !== undefined;
  }

  /** Never rejects: in an installation that is not whole, nothing can be judged. */
  load(): Promise<void> {
    this.#loading ??= import('./json-schema.js').then(
      (module) => void (this.#prepare = module.prepareSchema),
      () => {},
    );
    return this.#loading;
  }

  /** Whether a schema asks for nothing but an object, so that nobody has to be loaded for it. */
  static asksNothing(schema: object): boolean {
    const known = asking.get(schema);
    if (known !== undefined) return !known;
    const isNothing = Object.entries(schema).every(
      ([key, value]) =>
        ANNOTATIONS.has(key) ||
        (key === 'type' && value === 'object') ||
        (key === 'properties' && typeof value === 'object' && Object.keys(value as object).length === 0),
    );
    asking.set(schema, !isNothing);
    return isNothing;
  }

  /** Judges a value as it would be sent. Before `load`, only of what fits a plain schema anybody can tell. */
  check(schema: object, value: unknown): Verdict {
    const entry = this.#entry(schema);
    if (entry === undefined) return UNKNOWN;
    if (entry.fits?.(value) === true) return FITS;
    if (this.#prepare === undefined) return UNKNOWN;
    entry.prepared ??= prepared(entry.text, this.#prepare, this.#hasFormats);
    if ('why' in entry.prepared) return unknown(entry, entry.prepared.why);
    if (jsonSize(value, LARGEST_VALUE) > LARGEST_VALUE) return unknown(entry, 'the value is too large');
    const json = toJson(value);
    if (json === undefined) return UNKNOWN;
    try {
      const problems = entry.prepared.check(json);
      return problems.length === 0 ? FITS : { kind: 'misfit', problems };
    } catch (error) {
      const why = reasonOf(error);
      if (!(error instanceof RangeError)) entry.prepared = { why };
      return unknown(entry, why);
    }
  }

  #entry(schema: object): Entry | undefined {
    const text = this.#texts.get(schema) ?? toJson(schema);
    if (text === undefined) return undefined;
    this.#texts.set(schema, text);
    const entry = this.#byText.get(text) ?? newEntry(text, this.#hasFormats);
    if (text === this.#latest) return entry;
    this.#latest = text;
    if (this.#byText.delete(text)) this.#kept -= text.length;
    this.#byText.set(text, entry);
    this.#kept += text.length;
    for (const oldest of this.#byText.keys()) {
      if (this.#kept <= MOST_KEPT_CHARACTERS || oldest === text) break;
      this.#byText.delete(oldest);
      this.#kept -= oldest.length;
    }
    return entry;
  }
}

function newEntry(text: string, hasFormats: boolean): Entry {
  const isLong = text.length > LONGEST_SCHEMA;
  return {
    text,
    fits: isLong ? undefined : plainSchema(JSON.parse(text), hasFormats),
    prepared: isLong ? { why: 'it is too long' } : undefined,
    isTold: false,
  };
}

function prepared(text: string, prepare: typeof prepareSchema, hasFormats: boolean): Prepared {
  try {
    return { check: prepare(text, hasFormats) };
  } catch (error) {
    return { why: reasonOf(error) };
  }
}

function unknown(entry: Entry, why: string): Verdict {
  if (entry.isTold) return UNKNOWN;
  entry.isTold = true;
  return { kind: 'unknown', why };
}

/** The first line: the rest of what the validator says is a list of addresses. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return message.split('\n', 1)[0] ?? message;
}

/** Undefined where it is no JSON: whoever sends it learns that by himself. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
