/**
 * Adapts a value that a model wrote to the schema of a server: models fill optional fields with `null`, and write
 * objects, lists, numbers and booleans as text.
 *
 * C1. Only a value that certainly does not fit is changed. A `null` is left out if its field is optional; text becomes the
 *     value that it holds as JSON if the schema accepts that value and does not accept text.
 * C2. Follows `properties`, `patternProperties`, `additionalProperties`, `items`, `prefixItems`, `allOf` and local
 *     references. Of the alternatives of an `anyOf` or `oneOf`, it uses the one with the fewest changes.
 * C3. Never throws and never takes long: beyond its limits, the value stays as it is. The validator judges the result.
 */
import { canonicalJson } from '../json/write-json.js';
import { isJsonObject, type JsonObject, pointerToken, referredTo } from '../json/json-object.js';
import { isDeeperThan, MAX_DEPTH, parseJson } from '../json/parse-json.js';
import { asText } from '../text/as-text.js';

/** One change of a value. */
export interface Change {
  /** JSON Pointer (RFC 6901) to the value. */
  readonly path: string;
  readonly how: 'left-out' | 'parsed';
}

export interface Coerced {
  readonly value: unknown;
  readonly changes: readonly Change[];
}

/** Maximum number of checks of a value against a schema, for one call. */
const MAX_STEPS = 100_000;
const LONGEST_TEXT = 1_048_576;

/** The value and no changes, if it fits or cannot be adapted. The given value is never modified. */
export function coerce(value: unknown, schema: JsonObject): Coerced {
  return new Coercion(schema).coerced(value, schema, '', 0);
}

class Coercion {
  #steps = 0;

  constructor(private readonly root: JsonObject) {}

  coerced(given: unknown, schema: unknown, path: string, depth: number): Coerced {
    if (!isJsonObject(schema) || this.#isTooMuch(depth)) return { value: given, changes: [] };
    const read = this.#read(given, schema, depth);
    let { value } = read;
    const changes: Change[] = read.isRead ? [{ path, how: 'parsed' }] : [];
    const apply = (step: (value: unknown) => Coerced): void => {
      const next = step(value);
      value = next.value;
      for (const change of next.changes) changes.push(change);
    };
    if (Array.isArray(value)) apply((list) => this.#items(list as readonly unknown[], schema, path, depth));
    else if (isJsonObject(value)) apply((object) => this.#fields(object as JsonObject, schema, path, depth));
    const { $ref, allOf, anyOf, oneOf } = schema;
    for (const part of [referredTo($ref, this.root), allOf].flat()) {
      apply((whole) => this.coerced(whole, part, path, depth + 1));
    }
    for (const forms of [anyOf, oneOf]) {
      if (Array.isArray(forms)) apply((whole) => this.#form(whole, forms, path, depth));
    }
    return { value, changes };
  }

  /** Text as the value that it holds, if the schema accepts that value and does not accept text. */
  #read(
    value: unknown,
    schema: JsonObject,
    depth: number,
  ): { readonly value: unknown; readonly isRead: boolean } {
    if (typeof value !== 'string' || this.#fits(value, schema, false, depth)) return { value, isRead: false };
    const held = heldIn(value);
    const isRead = held !== undefined && held !== null && this.#fits(held, schema, false, depth);
    return { value: isRead ? held : value, isRead };
  }

  #items(list: readonly unknown[], schema: JsonObject, path: string, depth: number): Coerced {
    const { items, prefixItems, additionalItems } = schema;
    const first: unknown = prefixItems ?? (Array.isArray(items) ? items : []);
    const firsts: readonly unknown[] = Array.isArray(first) ? first : [];
    const rest = Array.isArray(items) ? additionalItems : items;
    const changes: Change[] = [];
    const value = list.map((item, index) => {
      const of = index < firsts.length ? firsts[index] : rest;
      const next = this.coerced(item, of, `${path}/${index}`, depth + 1);
      for (const change of next.changes) changes.push(change);
      return next.value;
    });
    return changes.length === 0 ? { value: list, changes } : { value, changes };
  }

  #fields(object: JsonObject, schema: JsonObject, path: string, depth: number): Coerced {
    if (typeof object['toJSON'] === 'function') return { value: object, changes: [] };
    const changes: Change[] = [];
    const kept: (readonly [string, unknown])[] = [];
    for (const [name, field] of Object.entries(object)) {
      const of = fieldSchema(schema, name);
      const at = `${path}/${pointerToken(name)}`;
      if (isNull(field) && isOptional(schema, name) && !this.#fits(field, of, false, depth + 1)) {
        changes.push({ path: at, how: 'left-out' });
        continue;
      }
      const next = this.coerced(field, of, at, depth + 1);
      for (const change of next.changes) changes.push(change);
      kept.push([name, next.value]);
    }
    return changes.length === 0 ? { value: object, changes } : { value: Object.fromEntries(kept), changes };
  }

  #form(value: unknown, forms: readonly unknown[], path: string, depth: number): Coerced {
    const given: Coerced = { value, changes: [] };
    if (forms.some((form) => this.#fits(value, form, true, depth))) return given;
    const fitting = forms
      .map((form) => ({ form, coerced: this.coerced(value, form, path, depth + 1) }))
      .filter(({ form, coerced }) => this.#fits(coerced.value, form, true, depth))
      .map(({ coerced }) => coerced);
    return (
      fitting.reduce<Coerced | undefined>(
        (best, each) => (best === undefined || each.changes.length < best.changes.length ? each : best),
        undefined,
      ) ?? given
    );
  }

  /** False if the value certainly does not fit; `isDeep` also looks at its fields and items. */
  #fits(value: unknown, schema: unknown, isDeep: boolean, depth: number): boolean {
    if (schema === false) return false;
    if (!isJsonObject(schema) || this.#isTooMuch(depth)) return true;
    const fits = (part: unknown): boolean => this.#fits(value, part, isDeep, depth + 1);
    const { $ref, allOf, anyOf, oneOf } = schema;
    if (!isOfType(value, schema) || !isAmong(value, schema)) return false;
    if (![referredTo($ref, this.root), allOf].flat().every(fits)) return false;
    if ([anyOf, oneOf].some((forms) => Array.isArray(forms) && !forms.some(fits))) return false;
    return !isDeep || this.#fitsWithin(value, schema, depth);
  }

  #fitsWithin(value: unknown, schema: JsonObject, depth: number): boolean {
    const { items, required, additionalProperties, patternProperties, properties } = schema;
    if (Array.isArray(value)) {
      return Array.isArray(items) || value.every((item) => this.#fits(item, items, true, depth + 1));
    }
    if (!isJsonObject(value)) return true;
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    const isClosed = additionalProperties === false && patternProperties === undefined;
    if (isClosed && names.some((name) => !hasOwn(properties, name))) return false;
    const isMissing = (name: unknown): boolean =>
      !names.includes(asText(name)) && !isOptional(schema, asText(name));
    if (Array.isArray(required) && required.some(isMissing)) return false;
    return names.every((name) => this.#fits(value[name], fieldSchema(schema, name), true, depth + 1));
  }

  #isTooMuch(depth: number): boolean {
    this.#steps += 1;
    return depth > MAX_DEPTH || this.#steps > MAX_STEPS;
  }
}

function isNull(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === 'null');
}

function hasOwn(object: unknown, name: string): object is JsonObject {
  return isJsonObject(object) && Object.hasOwn(object, name);
}

/** A required field with a default may be missing, as in the validator. */
function isOptional({ required, properties }: JsonObject, name: string): boolean {
  if (!Array.isArray(required) || !required.includes(name)) return true;
  const property = hasOwn(properties, name) ? properties[name] : undefined;
  return isJsonObject(property) && property['default'] !== undefined;
}

/** The schema of a field; undefined if it has none. Patterns of a server are not run: if it has some, any field may match. */
function fieldSchema(
  { properties, patternProperties, additionalProperties }: JsonObject,
  name: string,
): unknown {
  if (hasOwn(properties, name)) return properties[name];
  return patternProperties === undefined && isJsonObject(additionalProperties)
    ? additionalProperties
    : undefined;
}

function isOfType(value: unknown, { type }: JsonObject): boolean {
  if (type === undefined) return true;
  return [type].flat().some((each) => {
    switch (each) {
      case 'object':
        return isJsonObject(value);
      case 'array':
        return Array.isArray(value);
      case 'integer':
        return Number.isInteger(value);
      case 'null':
        return value === null;
      default:
        return typeof value === each;
    }
  });
}

function isAmong(value: unknown, schema: JsonObject): boolean {
  const { enum: choice } = schema;
  if (Object.hasOwn(schema, 'const') && !isSame(value, schema['const'])) return false;
  return !Array.isArray(choice) || choice.some((each) => isSame(value, each));
}

function isSame(value: unknown, other: unknown): boolean {
  if (value === other) return true;
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null)
    return false;
  return canonicalJson(value) === canonicalJson(other);
}

/** The JSON value in a text, if writing it as text lost nothing; undefined if there is none. */
function heldIn(text: string): unknown {
  if (text.length > LONGEST_TEXT) return undefined;
  const written = text.trim();
  if (/^(?:true|false)$/i.test(written)) return written.toLowerCase() === 'true';
  const value = parseJson(written);
  if (typeof value === 'string' || isDeeperThan(MAX_DEPTH, value)) return undefined;
  if (typeof value !== 'number') return value;
  const isExact = Number.isFinite(value) && (!/^-?\d+$/.test(written) || Number.isSafeInteger(value));
  return isExact ? value : undefined;
}
