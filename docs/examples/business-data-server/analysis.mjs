/** Figures over records: of all of them, of groups, of one field that is measured. */

/**
 * @typedef {import('./category.mjs').DataRecord} DataRecord
 * @typedef {import('./category.mjs').Value} Value
 */

const COMMON_LIMIT = 5;

/**
 * How the values of a field are spread.
 * @param {readonly DataRecord[]} records
 * @param {string} field
 * @param {import('./category.mjs').FieldType} type
 */
export function spreadOf(records, field, type) {
  const values = valuesOf(records, field);
  const present = { present: values.length, missing: records.length - values.length };
  if (type === 'number') return { ...present, ...figuresOf(/** @type {number[]} */ (values)) };
  if (type === 'date') {
    const [earliest, latest] = [values.toSorted().at(0), values.toSorted().at(-1)];
    return { ...present, ...(earliest === undefined ? {} : { earliest, latest }) };
  }
  const counts = countsOf(values);
  return { ...present, distinct: counts.length, mostCommon: counts.slice(0, COMMON_LIMIT) };
}

/**
 * @param {readonly DataRecord[]} records
 * @param {string} by
 * @param {string | undefined} measure
 */
export function groupsOf(records, by, measure) {
  return countsOf(valuesOf(records, by)).map(({ value, count }) => {
    const group = records.filter((record) => record[by] === value);
    return {
      value,
      count,
      ...(measure === undefined ? {} : { [measure]: spreadOf(group, measure, 'number') }),
    };
  });
}

/**
 * @param {readonly DataRecord[]} records
 * @param {string} field
 */
function valuesOf(records, field) {
  return records.map((record) => record[field]).filter((value) => value !== undefined);
}

/** @param {readonly number[]} numbers */
function figuresOf(numbers) {
  if (numbers.length === 0) return {};
  const sum = numbers.reduce((total, one) => total + one, 0);
  const [minimum, maximum] = numbers.reduce(
    ([low, high], one) => [Math.min(low, one), Math.max(high, one)],
    [Infinity, -Infinity],
  );
  return { sum, average: sum / numbers.length, minimum, maximum };
}

/**
 * Most common first; equally common ones in the order of their values.
 * @param {readonly Value[]} values
 */
function countsOf(values) {
  /** @type {Map<Value, number>} */
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1));
}
