/**
 * The cookies of one session: load balancers often use a cookie to keep a session on one of several servers.
 *
 * C1. A cookie is sent only to the host and port that set it, whatever its `Domain`. `Path`, `Secure`, `Max-Age` and
 *     `Expires` are respected (RFC 6265 section 5).
 * C2. They end with the session, and are never stored.
 * C3. Their number and size are bounded; the oldest are removed first (RFC 6265 section 6.1).
 */
import type { Clock } from '../../ports.js';

const MAX_COOKIES = 50;
const MAX_CHARS = 4_096;
/** Characters that would end the header or the pair. */
const UNSENDABLE = /[\p{Cc};]/u;

interface Cookie {
  readonly name: string;
  /** With its port. */
  readonly host: string;
  readonly value: string;
  readonly path: string;
  readonly isSecure: boolean;
  readonly endsAt: number;
}

export class Cookies {
  readonly #clock: Clock;
  /** By name, host and path, in the order in which they were set. */
  readonly #kept = new Map<string, Cookie>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The values, which a server may echo. */
  get values(): readonly string[] {
    return [...this.#kept.values()].map(({ value }) => value);
  }

  /** Takes the values of `Set-Cookie` in a reply from this address. */
  take(lines: readonly string[], from: URL): void {
    for (const line of lines) {
      const cookie = this.#parse(line, from);
      if (cookie === undefined) continue;
      const key = `${cookie.name};${cookie.host}${cookie.path}`;
      this.#kept.delete(key);
      if (cookie.endsAt > this.#clock.now()) this.#kept.set(key, cookie);
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= MAX_COOKIES) break;
        this.#kept.delete(oldest);
      }
    }
  }

  /** The `Cookie` header of a request to this address, including the configured cookies; undefined if there are none. */
  header(to: URL, configured: string | undefined): string | undefined {
    const now = this.#clock.now();
    const fitting = [...this.#kept.values()]
      .filter(({ host, path, endsAt }) => host === to.host && endsAt > now && isBelow(to.pathname, path))
      .filter(({ isSecure }) => !isSecure || to.protocol === 'https:')
      .toSorted((a, b) => b.path.length - a.path.length);
    const pairs = fitting.map(({ name, value }) => (name === '' ? value : `${name}=${value}`));
    const all = configured === undefined ? pairs : [configured, ...pairs];
    return all.length === 0 ? undefined : all.join('; ');
  }

  #parse(line: string, from: URL): Cookie | undefined {
    const [pair = '', ...attributes] = line.split(';');
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, equals)).trim();
    const value = pair.slice(equals + 1).trim();
    if (line.length > MAX_CHARS || (name === '' && value === '') || UNSENDABLE.test(pair)) return undefined;
    const given = new Map(
      attributes.map((attribute) => {
        const [key = '', ...rest] = attribute.split('=');
        return [key.trim().toLowerCase(), rest.join('=').trim()];
      }),
    );
    const path = given.get('path');
    return {
      name,
      host: from.host,
      value,
      path: path?.startsWith('/') === true ? path : defaultPath(from.pathname),
      isSecure: given.has('secure'),
      endsAt: endOf(given, this.#clock.now()),
    };
  }
}

/** `Max-Age` wins over `Expires`; without either, a cookie lasts as long as the session. */
function endOf(given: ReadonlyMap<string, string>, now: number): number {
  const maxAge = given.get('max-age') ?? '';
  if (/^-?\d+$/.test(maxAge)) return now + Number(maxAge) * 1_000;
  const expires = Date.parse(given.get('expires') ?? '');
  return Number.isNaN(expires) ? Infinity : expires;
}

/** RFC 6265 section 5.1.4. */
function defaultPath(pathname: string): string {
  return pathname.slice(0, Math.max(1, pathname.lastIndexOf('/')));
}

function isBelow(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}
