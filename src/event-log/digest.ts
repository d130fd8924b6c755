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

function digestOf(text: string): string {
  const digest = new Digest();
  digest.add(text);
  return digest.hex;
}

function hexOf(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}

/**
 * Digests of the contexts of machines, as JSON. What a machine has put into its context never changes, so only what is
 * another value than the last time is read again.
 */
export class ContextDigests {
  readonly #last = new Map<string, Map<string, { readonly value: object; readonly digest: string }>>();

  of(address: string, context: Readonly<Record<string, unknown>>): string {
    let text = '';
    for (const name of Object.keys(context)) {
      const value = context[name];
      if (value === undefined) continue;
      const part =
        typeof value === 'object' && value !== null ? this.#object(address, name, value) : plain(value);
      text += `${name}\0${part}\0`;
    }
    return digestOf(text);
  }

  /** That machine is no more. */
  forget(address: string): void {
    this.#last.delete(address);
  }

  #object(address: string, name: string, value: object): string {
    const fields = this.#last.get(address) ?? new Map<string, { value: object; digest: string }>();
    this.#last.set(address, fields);
    const last = fields.get(name);
    if (last?.value === value) return last.digest;
    const digest = digestOf(JSON.stringify(value));
    fields.set(name, { value, digest });
    return digest;
  }
}

function plain(value: unknown): string {
  return typeof value === 'string' ? `"${value}` : JSON.stringify(value);
}
