/**
 * The clients without a session, each of which stands for all requests of one subject with the same capabilities.
 *
 * S1. What a subject sees and can be asked depends on nothing that another subject sends.
 * S2. Their number is limited: the one that has been unused for longest gives way.
 */
import { canonicalJson } from '../json/write-json.js';
import { RpcError } from '../protocol/protocol-client.js';
import { RPC } from './client/client-message.js';
import type { SubjectClient } from './client/subject-client.js';
import { kindOf, type Answers } from './upstream/client-capabilities.js';

export interface Subject {
  /** Undefined if all who may use the gateway count as one. */
  readonly subject: string | undefined;
  /** The only visible server. */
  readonly server: string | undefined;
}

const MAX_CLIENTS = 1_000;

export class SubjectClients {
  readonly #make: (answers: Answers, about: Subject) => SubjectClient;
  readonly #clients = new Map<string, SubjectClient>();

  constructor(make: (answers: Answers, about: Subject) => SubjectClient) {
    this.#make = make;
  }

  get all(): Iterable<SubjectClient> {
    return this.#clients.values();
  }

  /** Throws an `RpcError` if all are in use. */
  of(declared: Answers, about: Subject): SubjectClient {
    const answers = kindOf(declared);
    const key = canonicalJson([about.subject ?? null, about.server ?? null, answers]);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    if (this.#clients.size >= MAX_CLIENTS) this.#makeRoom();
    const made = this.#make(answers, about);
    this.#clients.set(key, made);
    void made.closed.then(() => {
      if (this.#clients.get(key) === made) this.#clients.delete(key);
    });
    return made;
  }

  #makeRoom(): void {
    const unused = [...this.#clients].filter(([, { disconnectedSince }]) => disconnectedSince !== undefined);
    const [oldest] = unused.toSorted(
      ([, a], [, b]) => Number(a.disconnectedSince) - Number(b.disconnectedSince),
    );
    if (oldest === undefined)
      throw new RpcError(RPC.serverError, `${MAX_CLIENTS} clients are in use already.`, {
        reason: 'too-many-clients',
      });
    const [key, client] = oldest;
    this.#clients.delete(key);
    void client.close();
  }
}
