/**
 * Messages on the wire, for recordings that include them. Every session has a tap, which does nothing while no
 * recording listens.
 */
import type { SessionKey } from '../../../machines/connection/connection.events.js';
import type { Clock } from '../../ports.js';
import { MASK } from '../../config/entry/mask.js';
import { createMask, MIN_SECRET, type Mask } from '../../secrets/secrets.js';
import type { NoteEntry } from '../format/entry.js';
import { maskBody } from '../../secrets/mask-body.js';

/** `sent` by the client to the server, or `received` from it. */
export type WireDirection = 'sent' | 'received';

export type WireTap = (direction: WireDirection, message: object) => void;

/**
 * A note about one message on the wire. `method` and `ms` of an answer come from its request, if that was
 * recorded.
 */
export interface WireNote {
  /** Always `wire`. */
  readonly type: 'wire';
  /** Name of the server. */
  readonly server: string;
  /** Number of the session, from 1. */
  readonly generation: number;
  /** Whether the client sent or received the message. */
  readonly direction: WireDirection;
  /** Method of the request or notification; null for an answer to an unknown request. */
  readonly method: string | null;
  /** JSON-RPC id; null for a notification. */
  readonly id: string | number | null;
  /** Size of the message as JSON, in bytes. */
  readonly bytes: number;
  /** Milliseconds from the request to its answer. Present only in an answer. */
  readonly ms?: number;
  /**
   * The message with secrets masked; null if it is longer than 256 KiB. Absent unless bodies are recorded.
   */
  readonly body?: unknown;
}

/** Maximum number of a session's requests that are remembered until their answer comes. */
const MAX_OPEN = 1_000;
/** Maximum number of a session's values that are remembered as secrets: the latest. */
const MAX_SECRETS = 100;
/** Maximum size of a recorded message, bytes. */
const MAX_BODY = 256 * 1_024;

export interface WireListener {
  /** Whether to record the messages themselves. */
  readonly bodies: boolean;
  readonly note: (note: NoteEntry['note']) => void;
}

export class Wire {
  readonly #listeners = new Set<WireListener>();

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly maskOf: (connection: string) => Mask,
  ) {}

  /** Returns the function that stops listening. */
  listen(listener: WireListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The tap for one session. */
  ear(key: SessionKey): WireTap {
    let observed: Observed | undefined;
    return (direction, message) => {
      if (this.#listeners.size === 0) return;
      try {
        observed ??= {
          open: new OpenRequests(),
          // A secret may become known during the session.
          secrets: new RecordedSecrets((text) => this.maskOf(key.name)(text)),
        };
        this.#observe(key, observed, direction, message);
      } catch {
        // A server of this process may send a value that is not JSON, which cannot be recorded.
      }
    };
  }

  #observe(
    { name, generation }: SessionKey,
    { open, secrets }: Observed,
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
      server: name,
      generation,
      direction,
      // A server may send anything for either.
      method: about === undefined ? null : mask(about),
      id: typeof id === 'string' ? mask(id) : (id ?? null),
      bytes: Buffer.byteLength(JSON.stringify(message)),
      ...(asked !== undefined && { ms: now - asked.at }),
    };
    this.#write(note, message, secrets);
  }

  #write(note: WireNote, message: object, secrets: RecordedSecrets): void {
    const { bytes } = note;
    for (const { bodies, note: write } of this.#listeners)
      write(bodies ? { ...note, body: bytes > MAX_BODY ? null : secrets.mask(message) } : { ...note });
  }
}

/** The memory of a session while a recording listens. */
interface Observed {
  readonly open: OpenRequests;
  readonly secrets: RecordedSecrets;
}

/** Masks values that were recognised as secrets wherever they appear again in the session. */
class RecordedSecrets {
  readonly #known = new Set<string>();
  #maskKnown = createMask([]);

  /** `mask` masks the secrets of the entry. */
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

  /** Whether it is new. */
  #add(secret: string): boolean {
    if (secret === MASK || secret.length < MIN_SECRET || this.#known.has(secret)) return false;
    const [oldest = ''] = this.#known;
    if (this.#known.size === MAX_SECRETS) this.#known.delete(oldest);
    this.#known.add(secret);
    return true;
  }
}

interface OpenRequest {
  readonly method: string;
  readonly at: number;
}

/** Unanswered requests of both sides of one session. */
class OpenRequests {
  readonly #requests = new Map<string, OpenRequest>();

  add(direction: WireDirection, id: string | number, request: OpenRequest): void {
    if (this.#requests.size < MAX_OPEN) this.#requests.set(`${direction} ${typeof id} ${id}`, request);
  }

  /** The request that is answered by a message in that direction. */
  take(direction: WireDirection, id: string | number | undefined): OpenRequest | undefined {
    const key = `${direction === 'sent' ? 'received' : 'sent'} ${typeof id} ${id}`;
    const request = this.#requests.get(key);
    this.#requests.delete(key);
    return request;
  }
}
