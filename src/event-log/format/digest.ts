/**
 * Digests of texts and of machine states, to compare two runs. Not a defence against forgery: they find what was
 * dropped, moved or altered.
 */
import type { StateValue } from 'xstate';

/** A digest of everything added to it, in order: 64 bits, written as 16 hexadecimal digits. */
export class Digest {
  #high = 0x9e3779b9;
  #low = 0x85ebca6b;

  add(text: string): this {
    let high = this.#high;
    let low = this.#low;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, 2_654_435_761);
      low = Math.imul(low ^ unit, 1_597_334_677);
    }
    // Mixes both halves, so that the boundary between two texts matters.
    this.#high =
      Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
    this.#low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
    return this;
  }

  addDigest(other: Digest): this {
    this.#high = Math.imul(this.#high ^ other.#high, 2_654_435_761) ^ (other.#low >>> 7);
    this.#low = Math.imul(this.#low ^ other.#low, 1_597_334_677) ^ (other.#high >>> 5);
    return this;
  }

  /** Adds or removes a digest, regardless of order. */
  heap(other: Digest, sign: 1 | -1 = 1): this {
    this.#high = (this.#high + sign * other.#high) | 0;
    this.#low = (this.#low + sign * other.#low) | 0;
    return this;
  }

  copy(): Digest {
    const digest = new Digest();
    digest.#high = this.#high;
    digest.#low = this.#low;
    return digest;
  }

  equals(other: Digest): boolean {
    return this.#high === other.#high && this.#low === other.#low;
  }

  /** The digest with that value. */
  static from(hex: string): Digest {
    const digest = new Digest();
    digest.#high = Number.parseInt(hex.slice(0, 8), 16) | 0;
    digest.#low = Number.parseInt(hex.slice(8), 16) | 0;
    return digest;
  }

  get hex(): string {
    return hexOf(this.#high) + hexOf(this.#low);
  }
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(half: number): string {
  return `${HEX[half >>> 24]}${HEX[(half >>> 16) & 255]}${HEX[(half >>> 8) & 255]}${HEX[half & 255]}`;
}

/** The present state of one machine. */
interface MachineState {
  readonly to: string;
  readonly status: string;
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
}

/** The last reading of one machine. */
interface LastRead {
  readonly context: ContextDigest;
  /** Its state, as a text; undefined before the first reading. */
  state: string | undefined;
}

/** Digests of the present states of machines. Serves one run: it remembers its last reading of each. */
export class StateDigests {
  readonly #known = new Map<string, LastRead>();

  /**
   * The digest of those machines, in any order. Calls `onMoved` for each whose state has changed since the last
   * reading.
   */
  of(machines: readonly MachineState[], onMoved?: (to: string) => void): Digest {
    const all = new Digest();
    for (const machine of machines) all.heap(this.#of(machine, onMoved));
    return all;
  }

  #of({ to, status, state, context }: MachineState, onMoved: ((to: string) => void) | undefined): Digest {
    let known = this.#known.get(to);
    if (known === undefined) {
      known = { context: new ContextDigest(), state: undefined };
      this.#known.set(to, known);
    }
    if (status !== 'active') this.#known.delete(to);
    const text = textOf(state);
    if (text !== known.state) onMoved?.(to);
    known.state = text;
    return new Digest().add(`${to} ${status} ${text}`).addDigest(known.context.of(context));
  }
}

/**
 * A digest of the context of one machine, as JSON. Values in a context are immutable, so only changed values are read
 * again. Fields are matched by position: a machine keeps their order.
 */
class ContextDigest {
  #names: readonly string[] = [];
  #values: unknown[] = [];
  /** The digest of each field; a field without a value has none, as in JSON. */
  #digests: (Digest | undefined)[] = [];
  #all = new Digest();
  #last: MachineState['context'] | undefined;

  of(context: MachineState['context']): Digest {
    if (context === this.#last) return this.#all;
    this.#last = context;
    let place = 0;
    for (const name in context) {
      if (name !== this.#names[place]) return this.#readAll(context);
      const value = context[name];
      if (value !== this.#values[place]) this.#set(place, value);
      place += 1;
    }
    return place === this.#names.length ? this.#all : this.#readAll(context);
  }

  #readAll(context: MachineState['context']): Digest {
    this.#names = Object.keys(context);
    this.#values = [];
    this.#digests = [];
    this.#all = new Digest();
    this.#names.forEach((name, place) => this.#set(place, context[name]));
    return this.#all;
  }

  #set(place: number, value: unknown): void {
    const before = this.#digests[place];
    const now =
      value === undefined ? undefined : new Digest().add(this.#names[place] ?? '').add(JSON.stringify(value));
    if (before !== undefined) this.#all.heap(before, -1);
    if (now !== undefined) this.#all.heap(now);
    this.#values[place] = value;
    this.#digests[place] = now;
  }
}

/** Independent of the order of regions. */
function textOf(state: StateValue): string {
  if (typeof state === 'string') return state;
  const names = Object.keys(state);
  if (names.length > 1) names.sort();
  let text = '';
  for (const name of names) text += `(${name} ${textOf(state[name] ?? '')})`;
  return text;
}
