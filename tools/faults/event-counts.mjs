/** The checks of the number and the intervals of events at the servers of a case. */
import { differs, outside } from './difference.mjs';
import { eventsOf, requestMatcher } from './journal.mjs';

/** `source` is `journal` or `requests`; a case without it cannot pass. */
export function countDifferences(expected, seen, source) {
  return Object.entries(expected).flatMap(([key, bound]) => {
    const times = timesOf(key, seen, source);
    if (times === undefined) return [whyUncounted(key, seen, source)];
    const wanted = outside(times.length, bound);
    return differs(wanted !== undefined, `${key}: ${times.length}, wanted ${wanted}`);
  });
}

/** Expects that the later half of the pauses is longer on average. An unfinished pause counts with its length so far. */
export function gapDifferences(key, seen) {
  const noted = ['journal', 'requests'].map((source) => timesOf(key, seen, source) ?? []);
  const times = noted.find((found) => found.length > 0) ?? [];
  const gaps = times.slice(1).map((time, index) => time - times[index]);
  const open = seen.endedAt - (times.at(-1) ?? seen.endedAt);
  if (open > (gaps.at(-1) ?? 0)) gaps.push(open);
  if (gaps.length < 2) return [`${times.length} event(s) of '${key}' are too few for growing pauses`];
  const half = Math.floor(gaps.length / 2);
  const isGrowing = mean(gaps.slice(-half)) > mean(gaps.slice(0, half));
  return differs(!isGrowing, `pauses of '${key}' do not grow: ${gaps.join(', ')} ms`);
}

/** The number of pings that reached the servers; undefined if it was not recorded. */
export function pingsOf(seen) {
  const counted = ['journal', 'requests'].flatMap(
    (source) => timesOf(source === 'journal' ? 'recv:ping' : 'ping', seen, source)?.length ?? [],
  );
  return counted.length === 0 ? undefined : Math.max(...counted);
}

/** The times of the events of a key, in order; undefined if they were not recorded. */
function timesOf(key, { journal, requests }, source) {
  const matches = source === 'requests' ? requestMatcher(key) : undefined;
  const found =
    source === 'journal' ? journal && eventsOf(journal, key) : matches && requests?.filter(matches);
  return found?.map(({ t }) => t).toSorted((a, b) => a - b);
}

function whyUncounted(key, seen, source) {
  return (seen[source] ?? null) === null
    ? `'${key}' cannot be counted: the case has no ${source}`
    : `'${key}' cannot be counted: unknown kind of request`;
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
