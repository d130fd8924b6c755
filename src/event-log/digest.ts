/**
 * Short names for texts and for JSON, to compare two runs by. Not a defence against forgery: it finds what was
 * dropped, moved or altered.
 */

/** Of everything added to it, in order: 16 hexadecimal digits. */
export class Digest {
  #high = 0x9e3779b9;
  #low = 0x85ebca6b;

  add(text: string): void {
    let high = this.#high;
    let low = this.#low;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, 2_654_435_761);
      low = Math.imul(low ^ unit, 1_597_334_677);
    }
    // Mixed with each other, so that where one text ends and the next begins makes a difference.
    this.#high =
      Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
    this.#low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  }

  /** As it was when it was read. */
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

export function digestOf(text: string): string {
  const digest = new Digest();
  digest.add(text);
  return digest.hex;
}

function hexOf(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}

const known = new WeakMap<object, string>();

/** Of a machine's context as JSON. What a machine has put into it never changes, so each value is read only once. */
export function contextDigest(context: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const name of Object.keys(context)) {
    const value = context[name];
    if (value !== undefined) text += `${name}\0${valueDigest(value)}\0`;
  }
  return digestOf(text);
}

function valueDigest(value: unknown): string {
  if (typeof value === 'object' && value !== null) return objectDigest(value);
  return typeof value === 'string' ? `"${value}` : JSON.stringify(value);
}

function objectDigest(value: object): string {
  const before = known.get(value);
  if (before !== undefined) return before;
  const digest = digestOf(JSON.stringify(value));
  known.set(value, digest);
  return digest;
}
