/**
 * Decides whether a request may be answered. Pages of other origins, and programs of other users of this machine, can
 * reach the port too.
 *
 * W1. `Host` must name this server, so that a name that resolves to 127.0.0.1 (DNS rebinding) is refused.
 * W2. An `Origin` must be this server's own. A missing one is allowed; the origin `null` of a local file is refused.
 * W3. Every request that reads or changes data also needs the token, which is compared in constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Refused } from './inspector-answers.js';

/** 256 random bits. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

export class AccessGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #token: Buffer;

  constructor(port: number, token: string) {
    // In the form of a browser: without the port if it is the default.
    this.#hosts = new Set(['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${port}`).host));
    this.#token = digest(token);
  }

  /** Why a request gets no answer at all; undefined if it may be answered. */
  refusal({ host, origin }: IncomingHttpHeaders): Refused | undefined {
    if (host === undefined || !this.#hosts.has(host))
      return { status: 403, error: 'The Host header does not name this server.' };
    if (origin !== undefined && origin !== `http://${host}`)
      return { status: 403, error: 'The request comes from a page of another origin.' };
    return undefined;
  }

  /** Why a request may not read or change data; undefined if it may. */
  apiRefusal(headers: IncomingHttpHeaders): Refused | undefined {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin')
      return { status: 403, error: 'The request comes from a page of another site.' };
    const [, token] = /^Bearer ([\w-]{1,200})$/.exec(headers.authorization ?? '') ?? [];
    if (token !== undefined && timingSafeEqual(digest(token), this.#token)) return undefined;
    return {
      status: 401,
      error: 'The token is missing or wrong: open the complete address that was printed.',
    };
  }
}

/** Has the same length for every text, as the comparison in constant time requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
