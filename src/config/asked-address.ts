/**
 * The address of an entry as a person has to see it before saying yes: whatever decides which server is reached stands in
 * it as it is, though it came from the entry's own `env` or is the default of a variable. The rest is masked as everywhere.
 */
import type { HttpServerConfig } from '../options.js';
import { MASK, maskUrlParts } from './mask.js';
import { parseTemplate, type Part, type Variable } from './template.js';

export interface AskedAddress {
  readonly text: string;
  /** What stands in for a part of the address up to its host. */
  readonly deciding: readonly Variable[];
}

export function askedAddress({ url, env = {} }: HttpServerConfig): AskedAddress {
  const template = parseTemplate(url, false);
  if ('problem' in template) return { text: MASK, deciding: [] };
  const reader = new AddressReader(textsOf(env));
  const text = maskUrlParts(reader.show(template.parts));
  return { text: reader.isTooLong ? TOO_LONG : text, deciding: reader.deciding };
}

interface OwnText {
  readonly parts: readonly Part[];
  /** It may refer to those of a lower one, as it may when it is expanded. */
  readonly index: number;
}

function textsOf(env: Readonly<Record<string, string>>): ReadonlyMap<string, OwnText> {
  const texts = Object.entries(env).flatMap(([name, text], index) => {
    const template = parseTemplate(text, false);
    return 'problem' in template ? [] : [[name, { parts: template.parts, index }] as const];
  });
  return new Map(texts);
}

/** Texts that refer to each other can come to any length; nobody needs so many but to hide something. */
const MOST_OWN_TEXTS = 50;
const TOO_LONG = '(put together of too many parts to be shown)';

type Place = 'scheme' | 'slashes' | 'host' | 'rest';

class AddressReader {
  readonly deciding: Variable[] = [];
  #place: Place = 'scheme';
  #used = 0;

  constructor(private readonly own: ReadonlyMap<string, OwnText>) {}

  get isTooLong(): boolean {
    return this.#used > MOST_OWN_TEXTS;
  }

  show(parts: readonly Part[], below = Infinity): string {
    return parts.map((part) => this.#showPart(part, below)).join('');
  }

  #showPart(part: Part, below: number): string {
    if (part.kind === 'text') {
      this.#pass(part.text);
      return part.text;
    }
    const { name, fallback } = part;
    if (this.#place === 'rest') return `\${${name}${fallback === undefined ? '' : `:-${MASK}`}}`;
    this.deciding.push(part);
    const own = this.#ownText(part, below);
    if (own !== undefined) return this.show(own.parts, own.index);
    const instead = fallback === undefined ? '' : `:-${this.#showAside(fallback, below)}`;
    // What it holds is not known: it is taken for a piece of a name.
    if (this.#place === 'slashes') this.#place = 'host';
    return `\${${name}${instead}}`;
  }

  /** A default may be used or not, so that what follows begins where it began. */
  #showAside(fallback: readonly Part[], below: number): string {
    const place = this.#place;
    const text = maskUrlParts(this.show(fallback, below));
    this.#place = place;
    return text;
  }

  #ownText({ origin, name }: Variable, below: number): OwnText | undefined {
    const own = origin === 'host' ? this.own.get(name) : undefined;
    if (own === undefined || own.index >= below || this.isTooLong) return undefined;
    this.#used += 1;
    return own;
  }

  #pass(text: string): void {
    for (const char of text) {
      if (this.#place === 'rest') return;
      this.#place = after(this.#place, char);
    }
  }
}

/** An address without a scheme begins with a variable, which has all of it up to the next slash. */
function after(place: Place, char: string): Place {
  if (place === 'scheme' && char === ':') return 'slashes';
  const isSlash = char === '/' || char === '\\';
  if (place === 'slashes' && isSlash) return 'slashes';
  if (isSlash || char === '?' || char === '#') return 'rest';
  return place === 'slashes' ? 'host' : place;
}
