const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time span in its two largest units, at most seven columns: `12s`, `3m 04s`, `5h 10m`, `2d 03h`. */
export function shortDuration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${Math.floor(span / SECOND)}s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)}m ${twoDigits((span % MINUTE) / SECOND)}s`;
  if (span < DAY) return `${Math.floor(span / HOUR)}h ${twoDigits((span % HOUR) / MINUTE)}m`;
  return `${Math.floor(span / DAY)}d ${twoDigits((span % DAY) / HOUR)}h`;
}

/** A time span with the precision of a log: `40 ms`, `1.2 s`. */
export function preciseDuration(ms: number): string {
  return ms < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(1)} s`;
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}

/** `1 tool`, `2 tools`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
