/** The checks on how often, and at what intervals, something reached the servers of a case. */
import { differs, outside } from './difference.mjs';
import { eventsOf, requestMatcher } from './journal.mjs';

/** `source` is `journal` or `requests`; a case that keeps none of it cannot pass. */
export function countDifferences(expected, seen, source) {
  return Object.entries(expected).flatMap(([key, bound]) => {
    const times = timesOf(key, seen, source);
    if (times === undefined) return [whyUncounted(key, seen, source)];
    const wanted = outside(times.length, bound);
    return differs(wanted !== undefined, `${key}: ${times.length}, wanted ${wanted}`);
  });
}

/** The later half of the pauses is longer on the whole. A pause that was not over at the end was at least so long. */
export function gapDifferences(key, seen) {
  const noted = ['journal', 'requests'].map((source) => timesOf(key, seen, source) ?? []);
  const times = noted.find((found) => found.length > 0) ?? [];
  const gaps = times.slice(1).map((time, index) => time - times[index]);
  const open = seen.endedAt - (times.at(-1) ?? seen.endedAt);
  if (open > (gaps.at(-1) ?? 0)) gaps.push(open);
  if (gaps.length < 2) return [`${times.length} event(s) of '${key}' make no growing pauses`];
  const half = Math.floor(gaps.length / 2);
  const isGrowing = mean(gaps.slice(-half)) > mean(gaps.slice(0, half));
  return differs(!isGrowing, `pauses of '${key}' do not grow: ${gaps.join(', ')} ms`);
}

/** How often pings reached the servers; undefined where nobody noted it down. */
export function pingsOf(seen) {
  const counted = ['journal', 'requests'].flatMap(
    (source) => timesOf(source === 'journal' ? 'recv:ping' : 'ping', seen, source)?.length ?? [],
  );
  return counted.length === 0 ? undefined : Math.max(...counted);
}

/** When the events of a key happened, in order; undefined where nobody noted them down. */
function timesOf(key, { journal, requests }, source) {
  const matches = source === 'requests' ? requestMatcher(key) : undefined;
  const found =
    source === 'journal' ? journal && eventsOf(journal, key) : matches && requests?.filter(matches);
  return found?.map(({ t }) => t).toSorted((a, b) => a - b);
}

function whyUncounted(key, seen, source) {
  return (seen[source] ?? null) === null
    ? `'${key}' cannot be counted: the case keeps no ${source}`
    : `'${key}' cannot be counted: that is no kind of request`;
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
