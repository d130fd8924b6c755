/** The checks on single calls. */
import { anyOf, outside, short } from './difference.mjs';

export const CALL_CHECKS = {
  text: (expected, { text }) => text === expected,
  textLength: (expected, { text }) => text !== undefined && outside(text.length, expected) === undefined,
  textMatches: (patterns, { text }) => text !== undefined && matchesAll(patterns, text),
  error: (expected, { error }) => (error !== undefined) === expected,
  names: (patterns, { error }) => error !== undefined && matchesAll(patterns, error),
  settlesWithinMs: (limit, { unsettled = false, ms }) => !unsettled && ms <= limit,
};

/** The keys of `expected` and `calls` are the names that the steps give to their calls. */
export function callDifferences(expected, calls) {
  return Object.entries(expected).flatMap(([as, wanted]) =>
    Object.hasOwn(calls, as) ? differencesOf(wanted, calls[as], as) : [`no step made the call ${as}`],
  );
}

function differencesOf({ anyOf: sets, ...wanted }, call, as) {
  const actual = call.unsettled ? 'never settled' : (call.error ?? call.text);
  const wrong = Object.entries(wanted)
    .filter(([name, expected]) => !CALL_CHECKS[name](expected, call))
    .map(([name, expected]) => `${name} ${JSON.stringify(expected)}`);
  return [
    ...(wrong.length === 0
      ? []
      : [`call ${as}: ${short(actual)} after ${call.ms} ms, wanted ${wrong.join(', ')}`]),
    ...(call.unsettled && wrong.length === 0 ? [`call ${as}: never settled`] : []),
    ...(sets === undefined ? [] : anyOf(sets.map((one) => differencesOf(one, call, as)))),
  ];
}

function matchesAll(patterns, text) {
  return [patterns].flat().every((pattern) => new RegExp(pattern).test(text));
}
