/** The checks on how often, and at what intervals, something reached the servers of a case. */
import { differs } from './difference.mjs';
import { eventsOf, requestMatcher } from './journal.mjs';

/** `source` is `journal` or `requests`; a case that keeps none of it cannot pass. */
export function countDifferences(expected, seen, source) {
  return Object.entries(expected).flatMap(([key, { min = 0, max = Infinity }]) => {
    const times = timesOf(key, seen, source);
    if (times === undefined) return [`'${key}' cannot be counted: the case has no ${source} that tell`];
    const isOutside = times.length < min || times.length > max;
    return differs(isOutside, `${key}: ${times.length}, wanted ${min} to ${max}`);
  });
}

/** The later half of the pauses is longer on the whole. A pause that was not over at the end was at least so long. */
export function gapDifferences(key, seen) {
  const times = timesOf(key, seen, 'journal') ?? timesOf(key, seen, 'requests') ?? [];
  const gaps = times.slice(1).map((time, index) => time - times[index]);
  const open = seen.endedAt - (times.at(-1) ?? seen.endedAt);
  if (open > (gaps.at(-1) ?? 0)) gaps.push(open);
  if (gaps.length < 2) return [`${times.length} event(s) of '${key}' make no growing pauses`];
  const half = Math.floor(gaps.length / 2);
  const isGrowing = mean(gaps.slice(-half)) > mean(gaps.slice(0, half));
  return differs(!isGrowing, `pauses of '${key}' do not grow: ${gaps.join(', ')} ms`);
}

/** How often a server of the case was started, or a session with it. */
export function startsOf(seen) {
  return (timesOf('spawn', seen, 'journal') ?? timesOf('initialize', seen, 'requests') ?? []).length;
}

export function pingsOf(seen) {
  return (timesOf('recv:ping', seen, 'journal') ?? timesOf('ping', seen, 'requests') ?? []).length;
}

/** When the events of a key happened; undefined where nobody noted them down. */
function timesOf(key, { journal, requests }, source) {
  const matches = source === 'requests' ? requestMatcher(key) : undefined;
  const found =
    source === 'journal' ? journal && eventsOf(journal, key) : matches && requests?.filter(matches);
  return found?.map(({ t }) => t);
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
