/**
 * `src/schemas` validates values against JSON Schemas of servers, and finds invalid schemas. This file is the one
 * validator of a troupe. It compiles each schema once, by its text, for all tools, refreshes and sessions. The full
 * validator loads when it is first needed: values that fit a plain schema do not need it.
 *
 * V1. `check` never throws and never takes long. If a value cannot be judged, the result is `unknown`, and the caller
 *     goes on without validation.
 * V2. A schema that took too long, or cannot be used, is not tried again while it is remembered. A value that nests too
 *     deeply is not held against its schema.
 */
import { jsonSize } from '../json/parse-json.js';
import { messageOf } from '../text/error-message.js';
import type { SchemaProblem } from './explain.js';
import type { Check, prepareSchema } from './json-schema.js';
import { plainSchema, type Fits } from './plain-schema.js';

export type Verdict =
  | { readonly kind: 'fits' }
  | { readonly kind: 'misfit'; readonly problems: readonly SchemaProblem[] }
  /** It cannot be judged. `why` is set once for each schema. */
  | { readonly kind: 'unknown'; readonly why?: string };

/** Characters of all kept schemas; the least recently used are dropped first. */
const MAX_KEPT_CHARACTERS = 4 * 1_048_576;
const MAX_SCHEMA = 65_536;
/** Most characters of a value that is checked. */
const LARGEST_VALUE = 1_048_576;

const FITS: Verdict = { kind: 'fits' };
const UNKNOWN: Verdict = { kind: 'unknown' };

/** Keywords without requirements, other than `type: 'object'`. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['$schema', '$comment', 'title', 'description', 'examples']);

/** Whether a schema asks for anything: it is looked at for every call. */
const asking = new WeakMap<object, boolean>();

interface Entry {
  readonly text: string;
  /** The check of a plain schema; undefined for any other schema. */
  readonly fits: Fits | undefined;
  /** Undefined until it is first needed. */
  prepared: Prepared | undefined;
  isTold: boolean;
}

/** The compiled schema, or why it cannot be used. */
type Prepared = { readonly check: Check } | { readonly why: string };

export class SchemaValidator {
  readonly #hasFormats: boolean;
  readonly #byText = new Map<string, Entry>();
  /** The text of each schema, so that it is made once. */
  readonly #texts = new WeakMap<object, string>();
  /** The text of the schema that was used last, which is dropped last. */
  #latest: string | undefined;
  #kept = 0;
  #prepare: typeof prepareSchema | undefined;
  #loading: Promise<void> | undefined;

  /** `formats`: whether known formats are checked; otherwise `format` has no effect. */
  constructor({ formats = false }: { readonly formats?: boolean } = {}) {
    this.#hasFormats = formats;
  }

  get isLoaded(): boolean {
    return this.#prepare !== undefined;
  }

  /** Loads the validator. Never rejects: in an incomplete installation every value is `unknown`. */
  load(): Promise<void> {
    this.#loading ??= import('./json-schema.js').then(
      (module) => void (this.#prepare = module.prepareSchema),
      () => {},
    );
    return this.#loading;
  }

  /** Whether a schema requires only an object, so that the validator need not be loaded for it. */
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

  /** Judges a value as it would be sent. Before `load`, only a value that fits a plain schema can be judged. */
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
      if (problems === 'too-deep') return unknown(entry, 'the value nests too deeply');
      return problems.length === 0 ? FITS : { kind: 'misfit', problems };
    } catch (error) {
      const why = reasonOf(error);
      entry.prepared = { why };
      return unknown(entry, why);
    }
  }

  #textOf(schema: object): string | undefined {
    const text = toJson(schema);
    if (text !== undefined) this.#texts.set(schema, text);
    return text;
  }

  #entry(schema: object): Entry | undefined {
    const text = this.#texts.get(schema) ?? this.#textOf(schema);
    if (text === undefined) return undefined;
    const entry = this.#byText.get(text) ?? newEntry(text, this.#hasFormats);
    if (text === this.#latest) return entry;
    this.#latest = text;
    if (this.#byText.delete(text)) this.#kept -= text.length;
    this.#byText.set(text, entry);
    this.#kept += text.length;
    for (const oldest of this.#byText.keys()) {
      if (this.#kept <= MAX_KEPT_CHARACTERS || oldest === text) break;
      this.#byText.delete(oldest);
      this.#kept -= oldest.length;
    }
    return entry;
  }
}

function newEntry(text: string, hasFormats: boolean): Entry {
  const isLong = text.length > MAX_SCHEMA;
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

/** The first line of the validator's message; the rest is a list of addresses. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return message.split('\n', 1)[0] ?? message;
}

/** Undefined if the value cannot be written as JSON: sending it reports that. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
