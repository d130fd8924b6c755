/**
 * Decides whether a request may be answered. A page of somebody else's, and a program of another user of this machine, can
 * reach the port as well.
 *
 * W1. `Host` must name this server, so a name that was made to point at 127.0.0.1 (DNS rebinding) leads nowhere.
 * W2. An `Origin` must be this server's own; one that is missing or is none, as of a file, is told apart.
 * W3. Whatever tells something, or changes something, wants the token besides. It is compared in constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Refused } from './answers.js';

/** 256 bits, which nobody guesses. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

export class WhoMayAsk {
  readonly #hosts: ReadonlySet<string>;
  readonly #token: Buffer;

  constructor(port: number, token: string) {
    // As a browser writes it: without the port where that is the usual one.
    this.#hosts = new Set(['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${port}`).host));
    this.#token = digest(token);
  }

  /** Why nothing at all is answered; undefined where it may be. */
  refusal({ host, origin }: IncomingHttpHeaders): Refused | undefined {
    if (host === undefined || !this.#hosts.has(host))
      return { status: 403, error: 'This server is asked by another name than its own.' };
    if (origin !== undefined && origin !== `http://${host}`)
      return { status: 403, error: 'The request comes from a page of another origin.' };
    return undefined;
  }

  /** Why nothing of the troupe is told; undefined where it may be. */
  apiRefusal(headers: IncomingHttpHeaders): Refused | undefined {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin')
      return { status: 403, error: 'The request comes from a page of another site.' };
    const [, token] = /^Bearer ([\w-]{1,200})$/.exec(headers.authorization ?? '') ?? [];
    if (token !== undefined && timingSafeEqual(digest(token), this.#token)) return undefined;
    return { status: 401, error: 'The token is missing or wrong: open the whole address that was printed.' };
  }
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
