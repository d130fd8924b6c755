/** Builds differences: a check returns a list of sentences, which is empty if there is no difference. */

const MAX_SHOWN = 300;

export function differs(isDifferent, sentence) {
  return isDifferent ? [sentence] : [];
}

/** One alternative without differences is enough. */
export function anyOf(attempts) {
  if (attempts.some((differences) => differences.length === 0)) return [];
  return [attempts.map((differences) => differences.join('; ')).join(' -- or: ')];
}

/** The allowed range in words if the amount is outside the bound. A plain number is exact. */
export function outside(amount, bound) {
  const { min = 0, max = Infinity } = typeof bound === 'number' ? { min: bound, max: bound } : bound;
  if (amount >= min && amount <= max) return undefined;
  if (min === max) return `${min}`;
  return max === Infinity ? `${min} or more` : `${min} to ${max}`;
}

export function short(text) {
  const line = String(text).replaceAll(/\s+/g, ' ');
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)} …` : line;
}
