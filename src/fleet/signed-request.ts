/**
 * HTTP requests from one host of a fleet to another, signed with a key that only hosts have. Pure, except for the memory of
 * `SeenNonces`.
 *
 * R1. HMAC-SHA-256 over everything that decides what the request does: purpose, sender, receiver, method, path, session,
 *     headers, body, time and nonce. A change to one of them is refused.
 * R2. The receiver uses the signed headers only. Proxies between hosts may add others.
 * R3. A request counts for `WINDOW_MS` before and after its time, at the host that it names, and once: the host remembers the nonces of
 *     that time. The name of a host is new for each process, so nothing counts again after a restart.
 * R4. A signature for one purpose is worth nothing for another.
 * R5. The first key signs, and every key verifies, so a key is replaced in two steps without an outage.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { DerivedKey, DerivedKeys, FleetKey } from './fleet-key.js';

/** The header with the signature. */
export const SIGNATURE_HEADER = 'troupe-fleet';
/** The status of a host that has done nothing with a signed request: it is not the one that can. */
export const NOT_HERE = 421;
/** How far the clocks of two hosts may differ, milliseconds. */
export const WINDOW_MS = 30_000;

const FORMAT = '1';
/** Fields of a signature. */
const PARTS = 10;
const LABEL = 'troupe fleet requests';

/** What is signed of a request, as the sender writes it and the receiver reads it. */
export interface FleetRequest {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly path: string;
  /** Id of the session that it is for; empty if there is none. */
  readonly session: string;
  /** By lower-case name. The receiver passes all that came; what was not signed is left out of the result. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** What a signature says, in the open. */
interface Claims {
  /** What the receiver shall do with it: letters and `-`. */
  readonly purpose: string;
  /** Name of the host that sends it. */
  readonly from: string;
  /** Name of the host that it is for. */
  readonly to: string;
}

/** What the signer adds: wall clock in milliseconds, and a text that is never used again. */
export interface Moment {
  readonly at: number;
  readonly nonce: string;
}

/** What the verifier expects. */
export interface Expected {
  readonly purpose: string;
  /** Name of this host. */
  readonly self: string;
  /** Wall clock, milliseconds. */
  readonly now: number;
}

export type RefusedSignature =
  'malformed' | 'wrong-purpose' | 'wrong-host' | 'wrong-key' | 'changed' | 'expired';

export type Verdict =
  | {
      readonly isValid: true;
      readonly from: string;
      readonly at: number;
      readonly nonce: string;
      /** The signed headers. */
      readonly headers: Readonly<Record<string, string>>;
      /** Hash of the signed body. */
      readonly bodyHash: string;
    }
  | { readonly isValid: false; readonly reason: RefusedSignature };

/** The keys for `signRequest` and `verifyRequest`. */
export function requestKeys(key: FleetKey): DerivedKeys {
  return key.derive(LABEL);
}

/** The value of `SIGNATURE_HEADER`. All headers of the request are signed; send no others that matter. */
export function signRequest(
  [key]: DerivedKeys,
  request: FleetRequest,
  claims: Claims,
  moment: Moment,
): string {
  const headers = textsOf(request.headers, Object.keys(request.headers));
  const bodyHash = hashOf(request.body);
  const signature = hmac(key, request, { ...claims, ...moment, bodyHash }, headers);
  const { purpose, from, to } = claims;
  const { at, nonce } = moment;
  const names = Object.keys(headers).join(',');
  return [FORMAT, key.id, purpose, from, to, at, nonce, bodyHash, names, signature].join(';');
}

/** Whether the request is from a host of the fleet, for this host, and unchanged. Ask `SeenNonces` as well. */
export function verifyRequest(
  keys: DerivedKeys,
  request: FleetRequest,
  signature: string,
  expected: Expected,
): Verdict {
  const verdict = verifyHead(keys, request, signature, expected);
  return verdict.isValid && !isBodyOf(verdict, request.body) ? refused('changed') : verdict;
}

/** The same before the body is read, so that a stranger cannot make a host read one. Ask `isBodyOf` after that. */
export function verifyHead(
  keys: DerivedKeys,
  request: Omit<FleetRequest, 'body'>,
  signature: string,
  { purpose: wanted, self, now }: Expected,
): Verdict {
  const parts = signature.split(';', PARTS + 1);
  const [format, id, purpose, from, to, time = '', nonce, bodyHash, names, mac] = parts;
  const at = /^\d{1,15}$/.test(time) ? Number(time) : undefined;
  if (format !== FORMAT || parts.length !== PARTS || at === undefined) return refused('malformed');
  if (!from || !nonce || !bodyHash || names === undefined || !mac || to === undefined)
    return refused('malformed');
  if (purpose !== wanted) return refused('wrong-purpose');
  if (to !== self) return refused('wrong-host');
  const key = keys.find((each) => each.id === id);
  if (key === undefined) return refused('wrong-key');
  const headers = textsOf(request.headers, names === '' ? [] : names.split(','));
  if (!isSame(hmac(key, request, { purpose, from, to, at, nonce, bodyHash }, headers), mac))
    return refused('changed');
  if (Math.abs(now - at) > WINDOW_MS) return refused('expired');
  return { isValid: true, from, at, nonce, headers, bodyHash };
}

/** Whether the body is the one that was signed. */
export function isBodyOf({ bodyHash }: { readonly bodyHash: string }, body: Uint8Array): boolean {
  return hashOf(body) === bodyHash;
}

/** The nonces of the time in which a request counts. */
export class SeenNonces {
  #recent = new Set<string>();
  #before = new Set<string>();
  #since: number;

  constructor(now: number) {
    this.#since = now;
  }

  /** Whether it comes for the first time. Pass the nonce of a valid request only: others must not fill the memory. */
  isNew(nonce: string, now: number): boolean {
    // From the earliest to the latest arrival of one request, twice the window passes at most.
    if (Math.abs(now - this.#since) > 2 * WINDOW_MS) {
      this.#before = this.#recent;
      this.#recent = new Set();
      this.#since = now;
    }
    if (this.#recent.has(nonce) || this.#before.has(nonce)) return false;
    this.#recent.add(nonce);
    return true;
  }
}

function refused(reason: RefusedSignature): Verdict {
  return { isValid: false, reason };
}

/** In the order of the names. A name without a value, or with several, is left out, and so the signature does not match. */
function textsOf(headers: FleetRequest['headers'], names: readonly string[]): Record<string, string> {
  const texts = names.toSorted().map((name) => [name, headers[name]] as const);
  return Object.fromEntries(texts.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function hmac(
  { bytes }: DerivedKey,
  { method, path, session }: Omit<FleetRequest, 'body'>,
  { purpose, from, to, at, nonce, bodyHash }: Claims & Moment & { readonly bodyHash: string },
  headers: Readonly<Record<string, string>>,
): string {
  const signed = [FORMAT, purpose, from, to, at, nonce, method, path, session, bodyHash];
  return createHmac('sha256', bytes)
    .update(JSON.stringify([...signed, Object.entries(headers)]))
    .digest('base64url');
}

function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url');
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
