/** How differences are worded: a check gives a list of sentences, empty where there is none. */

const LONGEST_SHOWN = 300;

export function differs(isDifferent, sentence) {
  return isDifferent ? [sentence] : [];
}

/** One attempt without differences is enough. */
export function anyOf(attempts) {
  if (attempts.some((differences) => differences.length === 0)) return [];
  return [attempts.map((differences) => differences.join('; ')).join(' -- nor: ')];
}

export function short(text) {
  const line = String(text).replaceAll(/\s+/g, ' ');
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)} …` : line;
}
