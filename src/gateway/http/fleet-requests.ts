/** The requests that other hosts of the fleet have signed: verified before anything else looks at them. */
import type { IncomingMessage } from 'node:http';
import type { DerivedKeys } from '../../fleet/fleet-key.js';
import { USE_SERVER } from '../../fleet/signed-exchange.js';
import {
  isBodyOf,
  NOT_HERE,
  SeenNonces,
  SIGNATURE_HEADER,
  verifyHead,
  type RefusedSignature,
} from '../../fleet/signed-request.js';
import type { Clock } from '../../ports.js';
import type { Refused } from './http-answers.js';
import { SESSION_HEADER } from './http-client-session.js';

interface Signed {
  readonly bodyHash: string;
  readonly purpose: string;
  /** Name of the host. */
  readonly from: string;
}

export class FleetRequests {
  readonly #keys: DerivedKeys;
  readonly #self: string;
  readonly #clock: Clock;
  readonly #seen: SeenNonces;
  readonly #signed = new WeakMap<IncomingMessage, Signed>();

  constructor(keys: DerivedKeys, self: string, clock: Clock) {
    this.#keys = keys;
    this.#self = self;
    this.#clock = clock;
    this.#seen = new SeenNonces(clock.now());
  }

  /**
   * Verifies a request that says it is signed. After that its headers are the signed ones. Returns the refusal.
   */
  receive(request: IncomingMessage, purpose: string): Refused | undefined {
    const { method = '', url: path = '', headers } = request;
    const { [SIGNATURE_HEADER]: signature, [SESSION_HEADER]: session } = headers;
    const now = this.#clock.now();
    const verdict = verifyHead(
      this.#keys,
      { method, path, session: typeof session === 'string' ? session : '', headers },
      typeof signature === 'string' ? signature : '',
      { purpose, self: this.#self, now },
    );
    if (!verdict.isValid) return refusedFor(verdict.reason);
    if (!this.#seen.isNew(verdict.nonce, now)) return refusedFor('replayed');
    request.headers = verdict.headers;
    this.#signed.set(request, { ...verdict, purpose });
    return undefined;
  }

  /** Whether another host has sent it. */
  isSigned(request: IncomingMessage): boolean {
    return this.#signed.has(request);
  }

  /** The host that uses a server here that runs once in the fleet, for itself. */
  userOf(request: IncomingMessage): string | undefined {
    const { purpose, from } = this.#signed.get(request) ?? {};
    return purpose === USE_SERVER ? from : undefined;
  }

  /** Whether the body is the one that was signed, if it was signed. */
  isIntact(request: IncomingMessage, body: Uint8Array): boolean {
    const signed = this.#signed.get(request);
    return signed === undefined || isBodyOf(signed, body);
  }
}

/** A request for another host has come to the wrong one: a new process has the address of an old one. */
function refusedFor(reason: RefusedSignature | 'replayed'): Refused {
  const status = reason === 'wrong-host' ? NOT_HERE : 403;
  return { status, error: `The signature of the fleet is refused: ${reason}.` };
}
