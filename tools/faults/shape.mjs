/**
 * Checks the parts of a JSON file: a shape takes a value and its place and returns the problems as sentences.
 */

const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isAmount = (value) => Number.isFinite(value) && value >= 0;

/** A single value; `what` describes it in the problem. */
export const shape = (what, holds) => (value, place) => (holds(value) ? [] : [`${place} should be ${what}`]);

export const text = shape('a string', (value) => typeof value === 'string');
export const flag = shape('true or false', (value) => typeof value === 'boolean');
export const amount = shape('a number that is not negative', isAmount);
export const anything = () => [];
export const pattern = shape('a regular expression', isPattern);

export function oneOf(...words) {
  return (value, place) =>
    words.includes(value)
      ? []
      : [`${place} is unknown: ${JSON.stringify(value)}; known are ${words.join(', ')}`];
}

/** Fits if one of the shapes fits. */
export function either(...shapes) {
  return (value, place) => {
    const found = shapes.map((fits) => fits(value, place));
    return found.some((problems) => problems.length === 0) ? [] : [found.flat().join(', or ')];
  };
}

export function listOf(inner) {
  return (value, place) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => inner(item, `${place}[${index}]`))
      : [`${place} should be a list`];
}

/** One value or a list of values. */
export function some(inner) {
  const list = listOf(inner);
  return (value, place) => (Array.isArray(value) ? list : inner)(value, place);
}

/** An object with any names and values of one shape. */
export function mapOf(inner) {
  return (value, place) =>
    isRecord(value)
      ? Object.entries(value).flatMap(([name, item]) => inner(item, `${place}.${name}`))
      : [`${place} should be an object`];
}

/** An object with only these names, including those of `required`. `noun` is the word for a name in a problem. */
export function record(fields, { required = [], noun = 'field' } = {}) {
  return (value, place) => {
    if (!isRecord(value)) return [`${place} should be an object`];
    const missing = required
      .filter((name) => value[name] === undefined)
      .map((name) => `${place} lacks '${name}'`);
    const wrong = Object.entries(value).flatMap(([name, item]) =>
      Object.hasOwn(fields, name)
        ? fields[name](item, `${place}.${name}`)
        : [`${place} has an unknown ${noun}: '${name}'`],
    );
    return [...missing, ...wrong];
  };
}

function isPattern(value) {
  if (typeof value !== 'string') return false;
  try {
    return Boolean(new RegExp(value));
  } catch {
    return false;
  }
}
