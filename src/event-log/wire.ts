/**
 * What goes over the wire, for recordings that want it. Every session has its ear; while no recording listens, that is
 * all it has.
 */
import type { SessionKey } from '../../machines/connection.events.js';
import type { Clock } from '../ports.js';
import { MASK } from '../config/mask.js';
import { createMask, SHORTEST_SECRET, type Mask } from '../secrets.js';
import type { NoteEntry } from './entry.js';
import { maskBody } from './mask-body.js';

export type WireDirection = 'sent' | 'received';

export type WireEar = (direction: WireDirection, message: object) => void;

/** What is noted of a message. `method` and `ms` of an answer are those of its request, where that was heard. */
export interface WireNote {
  readonly type: 'wire';
  readonly connection: string;
  readonly generation: number;
  readonly direction: WireDirection;
  readonly method: string | null;
  readonly id: string | number | null;
  /** Of the message as JSON. */
  readonly bytes: number;
  /** From the request to its answer, milliseconds. */
  readonly ms?: number;
  /** The message, masked; null where it is longer than is written down. */
  readonly body?: unknown;
}

/** Requests of one session that are remembered until their answer comes. */
const MOST_OPEN = 1_000;
/** Values of one session that are remembered because they were called secrets: the latest. */
const MOST_SECRETS = 100;
/** Longest message that is written down, bytes. */
const LONGEST_BODY = 256 * 1_024;

export interface WireListener {
  /** Whether it wants the messages themselves. */
  readonly bodies: boolean;
  readonly note: (note: NoteEntry['note']) => void;
}

export class Wire {
  readonly #listeners = new Set<WireListener>();

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly maskOf: (connection: string) => Mask,
  ) {}

  /** Gives the function that ends the listening. */
  listen(listener: WireListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** For one session. */
  ear(key: SessionKey): WireEar {
    let heard: Heard | undefined;
    return (direction, message) => {
      if (this.#listeners.size === 0) return;
      try {
        heard ??= { open: new OpenRequests(), told: new ToldSecrets(this.maskOf(key.name)) };
        this.#hear(key, heard, direction, message);
      } catch {
        // What is no JSON, as a server of this process may send it, is no message that could be written down.
      }
    };
  }

  #hear(
    { name, generation }: SessionKey,
    { open, told }: Heard,
    direction: WireDirection,
    message: { readonly method?: string; readonly id?: string | number },
  ): void {
    const { method, id } = message;
    const now = this.clock.now();
    const asked = method === undefined ? open.take(direction, id) : undefined;
    if (method !== undefined && id !== undefined) open.add(direction, id, { method, at: now });
    const mask = this.maskOf(name);
    const about = method ?? asked?.method;
    const note: WireNote = {
      type: 'wire',
      connection: name,
      generation,
      direction,
      // A server may say anything for either.
      method: about === undefined ? null : mask(about),
      id: typeof id === 'string' ? mask(id) : (id ?? null),
      bytes: Buffer.byteLength(JSON.stringify(message)),
      ...(asked !== undefined && { ms: now - asked.at }),
    };
    this.#tell(note, message, told);
  }

  #tell(note: WireNote, message: object, told: ToldSecrets): void {
    const { bytes } = note;
    for (const { bodies, note: write } of this.#listeners)
      write(bodies ? { ...note, body: bytes > LONGEST_BODY ? null : told.mask(message) } : { ...note });
  }
}

/** What of a session is remembered while a recording listens. */
interface Heard {
  readonly open: OpenRequests;
  readonly told: ToldSecrets;
}

/** Values of one session that were called secrets once are struck out wherever they come again. */
class ToldSecrets {
  readonly #known = new Set<string>();
  #maskKnown = createMask([]);

  /** `mask` strikes out what is known of the entry. */
  constructor(private readonly maskEntry: Mask) {}

  mask(message: object): unknown {
    let isNew = false;
    const body = maskBody(
      message,
      (text) => this.#maskKnown(this.maskEntry(text)),
      (secret) => {
        isNew = this.#add(secret) || isNew;
      },
    );
    if (!isNew) return body;
    this.#maskKnown = createMask(this.#known);
    return maskBody(body, this.#maskKnown);
  }

  /** Whether it was not known yet. */
  #add(secret: string): boolean {
    if (secret === MASK || secret.length < SHORTEST_SECRET || this.#known.has(secret)) return false;
    const [oldest = ''] = this.#known;
    if (this.#known.size === MOST_SECRETS) this.#known.delete(oldest);
    this.#known.add(secret);
    return true;
  }
}

interface OpenRequest {
  readonly method: string;
  readonly at: number;
}

/** Requests without an answer yet, of both sides of one session. */
class OpenRequests {
  readonly #requests = new Map<string, OpenRequest>();

  add(direction: WireDirection, id: string | number, request: OpenRequest): void {
    if (this.#requests.size < MOST_OPEN) this.#requests.set(`${direction} ${typeof id} ${id}`, request);
  }

  /** The request that an answer which goes that way is to. */
  take(direction: WireDirection, id: string | number | undefined): OpenRequest | undefined {
    const key = `${direction === 'sent' ? 'received' : 'sent'} ${typeof id} ${id}`;
    const request = this.#requests.get(key);
    this.#requests.delete(key);
    return request;
  }
}
