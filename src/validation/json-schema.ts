/**
 * Validates against schemas that a server wrote. Nothing of a schema becomes code, nothing is fetched, and no schema
 * can hold the process up: one that may be slow is broken off when its time is over.
 *
 * J1. JSON Schema 2020-12 where a schema does not say otherwise (MCP specification 2025-11-25, "JSON Schema usage");
 *     2019-09, draft-07, draft-06 and draft-04 where it says so.
 * J2. A required property with a default may be missing.
 * J3. `format` is an annotation unless it is asked for (2020-12, "Vocabularies for Semantic Content").
 */
import { dereference, validate, type Schema } from '@cfworker/json-schema';
import { isJsonObject } from '../catalog/json-object.js';
import { draftOf } from './dialect.js';
import { explain, type SchemaProblem, type SchemaTree } from './explain.js';
import { withinTime } from './time-limit.js';

/** A person does not notice it, and it is enough for tens of thousands of values. */
const LIMIT_MS = 250;
/** A schema refers to itself from so many places that its addresses alone take more characters than this. */
const MOST_ADDRESS_CHARACTERS = 1_048_576;
/** Characters of a schema times those of a value, up to which the two are compared in about 20 ms at most. */
const QUICK = 4_000_000;

/** Keywords by which little text can mean much work. */
const SLOW_KEYWORDS = /"(?:\$ref|\$recursiveRef|pattern|patternProperties|uniqueItems|format)"/;

/** What is wrong with a value, given as JSON text. Throws where nobody can tell. */
export type Check = (json: string) => readonly SchemaProblem[];

/** Throws where the schema cannot be used. */
export function prepareSchema(text: string, hasFormats: boolean): Check {
  const root = (hasFormats ? JSON.parse(text) : withoutFormats(JSON.parse(text))) as Schema;
  const draft = draftOf(root.$schema);
  if (draft === undefined) throw new Error('its dialect ($schema) is not known');
  const lookup = withinTime(LIMIT_MS, () => dereference(root));
  if (charactersIn(Object.keys(lookup)) > MOST_ADDRESS_CHARACTERS) throw new Error('it is too large');
  const tree: SchemaTree = { root, lookup };
  const isSlow = SLOW_KEYWORDS.test(text);
  return (json) => {
    const value: unknown = JSON.parse(json);
    const check = (): readonly SchemaProblem[] => {
      const { valid, errors } = validate(value, root, draft, lookup, false);
      return valid ? [] : explain(errors, value, tree);
    };
    return isSlow || text.length * json.length > QUICK ? withinTime(LIMIT_MS, check) : check();
  };
}

/** A copy in which no `format` is left. Data in it (`const`, `enum`) stays as it is. */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats);
  if (!isJsonObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => key !== 'format' || typeof value !== 'string');
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === 'const' || key === 'enum' ? value : withoutFormats(value)]),
  );
}

function charactersIn(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}
