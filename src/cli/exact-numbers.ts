/**
 * Finds numbers that JavaScript cannot keep as somebody wrote them: integers of too many digits, and what is larger than
 * any number. The digits of a fraction are no such case: to round them is what everybody expects.
 */

/** Texts, and numbers outside of them. No pattern that takes a long text piece by piece: that needs a stack as long. */
const TOKENS = /"[^"]*"|-?\d[\d.eE+-]*/g;
const ESCAPED = /\\./g;

/** Whether none is in a valid JSON text. */
export function hasExactNumbers(json: string): boolean {
  for (const [token] of json.replace(ESCAPED, '').matchAll(TOKENS)) {
    if (!token.startsWith('"') && !isExact(token)) return false;
  }
  return true;
}

function isExact(literal: string): boolean {
  const value = Number(literal);
  if (/[.eE]/.test(literal)) return Number.isFinite(value);
  return Number.isSafeInteger(value) || String(value) === literal;
}
