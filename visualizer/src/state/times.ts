/** Times and durations as people read them. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const two = (value: number): string => String(value).padStart(2, '0');

/** `14:03:07.120`, in local time. */
export function clockTime(at: number): string {
  if (!Number.isFinite(at)) return '–';
  const date = new Date(at);
  const ms = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}

/** `Nov 28`, or `Nov 28, 2026`. */
export function dayText(at: number, hasYear = false): string {
  if (!Number.isFinite(at)) return '–';
  const date = new Date(at);
  const day = `${MONTHS[date.getMonth()] ?? ''} ${date.getDate()}`;
  return hasYear ? `${day}, ${date.getFullYear()}` : day;
}

/** `May 12, 2026, 14:03:07.120`, in local time. */
export function fullTime(at: number): string {
  return Number.isFinite(at) ? `${dayText(at, true)}, ${clockTime(at)}` : '–';
}

/** The format of times between two moments: with the day if it is not always the same. */
export class Times {
  constructor(
    private readonly from: number,
    private readonly to: number,
  ) {}

  /** The range covers more than one day. */
  get hasDays(): boolean {
    return !isOneDay(this.from, this.to);
  }

  /** `Nov 28` if the time alone is ambiguous; with the year if it differs; otherwise empty. */
  day(at: number): string {
    if (!Number.isFinite(at) || (!this.hasDays && isOneDay(at, this.from))) return '';
    const years = [at, this.from, this.to].map((each) => new Date(each).getFullYear());
    return dayText(at, new Set(years).size > 1);
  }

  /** `14:03:07.120`, after its day if that is needed. */
  at(at: number): string {
    return [this.day(at), clockTime(at)].filter((part) => part !== '').join(' ');
  }

  /** Like `at`, in whole seconds. */
  second(at: number): string {
    return Number.isFinite(at) ? this.at(at).slice(0, -4) : '–';
  }
}

function isOneDay(a: number, b: number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString();
}

/** `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** In whole seconds, because it is updated every second. */
export function countdown(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1_000);
}

/** `1,234`. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}
