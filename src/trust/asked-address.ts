/**
 * The address of an entry as a person must see it before trusting it. Everything that decides which server is reached is
 * shown, even if it comes from the entry's own `env` or from the default of a variable. The rest is masked as elsewhere.
 */
import type { HttpServerConfig } from '../config/entry/server-config.js';
import { isLocalSocket } from '../config/entry/local-socket.js';
import { MASK } from '../config/entry/mask.js';
import { maskUrlParts } from '../config/entry/mask-entry.js';
import { parseTemplate, type Part, type Variable } from '../config/entry/template.js';
import { hostOf, reachOf } from '../text/host-reach.js';
import { parseUrl } from '../text/parse-url.js';

export interface DisplayedAddress {
  readonly text: string;
  /** The variables in the address up to the end of its host. */
  readonly deciding: readonly Variable[];
}

/** `url` can be another address of the entry as well, such as its proxy. */
export function askedAddress({
  url,
  env = {},
}: {
  readonly url: string;
  readonly env?: HttpServerConfig['env'] | undefined;
}): DisplayedAddress {
  const reader = new AddressReader(textsOf(env));
  const text = reader.show(parseTemplate(url, 'plain'));
  return { text: reader.isTooLong ? TOO_LONG : text, deciding: reader.deciding };
}

interface OwnText {
  readonly parts: readonly Part[];
  /** It may refer to texts with a lower index only, as in the expansion. */
  readonly index: number;
}

function textsOf(env: Readonly<Record<string, string>>): ReadonlyMap<string, OwnText> {
  const texts = Object.entries(env).map(
    ([name, text], index) => [name, { parts: parseTemplate(text, 'plain'), index }] as const,
  );
  return new Map(texts);
}

/** Texts that refer to each other can reach any length. An address with more than this many has something to hide. */
const MAX_OWN_TEXTS = 50;
const TOO_LONG = '(too many parts to show)';

type Place = 'scheme' | 'slashes' | 'host' | 'rest';

/** A variable may hold anything or nothing, so the text after it may begin at the place where the variable began. */
class AddressReader {
  readonly deciding: Variable[] = [];
  #place: Place = 'scheme';
  #used = 0;

  constructor(private readonly own: ReadonlyMap<string, OwnText>) {}

  get isTooLong(): boolean {
    return this.#used > MAX_OWN_TEXTS;
  }

  show(parts: readonly Part[], below = Infinity): string {
    const shown = new ShownText();
    this.#read(parts, below, shown);
    return shown.toString();
  }

  #read(parts: readonly Part[], below: number, shown: ShownText): void {
    for (const part of parts) {
      if (part.kind === 'variable') this.#readVariable(part, below, shown);
      else this.#readText(part.text, shown);
    }
  }

  #readText(text: string, shown: ShownText): void {
    let end = 0;
    for (; end < text.length && this.#place !== 'rest'; end++) {
      this.#place = after(this.#place, text.charAt(end));
    }
    // The character that ends the host is the first of the rest.
    if (end > 0 && this.#place === 'rest') end -= 1;
    shown.add(text.slice(0, end));
    shown.addRest(text.slice(end));
  }

  #readVariable(part: Variable, below: number, shown: ShownText): void {
    const { name, fallback } = part;
    if (this.#place === 'rest') {
      shown.addRest(`\${${name}${fallback === undefined ? '' : `:-${MASK}`}}`);
      return;
    }
    this.deciding.push(part);
    const own = this.#ownText(part, below);
    if (own !== undefined && (fallback === undefined || !mayBeEmpty(own))) {
      this.#read(own.parts, own.index, shown);
      return;
    }
    if (own !== undefined) shown.addReference(this.#showAside(own.parts, own.index));
    const instead = fallback === undefined ? '' : `:-${this.#showAside(fallback, below)}`;
    shown.addReference(`\${${name}${instead}}`);
  }

  /** A text that may or may not be used, so it does not move the place. */
  #showAside(parts: readonly Part[], below: number): string {
    const place = this.#place;
    const text = this.show(parts, below);
    this.#place = place;
    return text;
  }

  #ownText({ origin, name }: Variable, below: number): OwnText | undefined {
    const own = origin === 'host' ? this.own.get(name) : undefined;
    if (own === undefined || own.index >= below || this.isTooLong) return undefined;
    this.#used += 1;
    return own;
  }
}

/** Up to the end of the host, only the text right before an `@` is masked: text before a variable may be part of the host. */
class ShownText {
  #shown = '';
  #literal = '';
  #rest = '';

  add(literal: string): void {
    this.#literal += literal;
  }

  addReference(reference: string): void {
    this.#shown += maskUrlParts(this.#literal) + reference;
    this.#literal = '';
  }

  addRest(text: string): void {
    this.#rest += text;
  }

  toString(): string {
    const start = this.#shown + maskUrlParts(this.#literal);
    // The part after the first '#' is the path of the requests.
    const parts = isLocalSocket(start) ? this.#rest.split(/(?<!#.*)#/s) : [this.#rest];
    return start + parts.map(maskUrlParts).join('#');
  }
}

function mayBeEmpty({ parts }: OwnText): boolean {
  return parts.every((part) => part.kind === 'variable' || part.text === '');
}

/** Reads as `fetch` does: any number of slashes may follow the scheme, and tabs and line breaks are ignored. */
function after(place: Place, char: string): Place {
  if (/[\t\n\r]/.test(char)) return place;
  if (char === '?' || char === '#') return 'rest';
  const isSlash = char === '/' || char === '\\';
  if (place === 'scheme') return isSlash || char === ':' ? 'slashes' : 'scheme';
  if (place === 'slashes') return isSlash ? 'slashes' : 'host';
  return isSlash ? 'rest' : place;
}

// Whether an address leads to this computer or into a private network. An entry of a repository rarely needs that. Pure.

/** `this-machine`: loopback. `link-local`: such as the metadata service of a cloud. `private`: a private network. */
export type PrivateNetwork = 'this-machine' | 'private' | 'link-local';

const NAMES: readonly (readonly [PrivateNetwork, RegExp])[] = [
  ['this-machine', /^(?:.+\.)?(?:localhost|localdomain)$|^ip6-(?:localhost|loopback)$/],
  // A name without a dot belongs to the local network.
  ['private', /^[^.]+$|\.(?:local|internal|intranet|private|corp|home|lan|localnet|home\.arpa)$/],
];

/** Undefined for a public address, and for one whose host is not known yet. Other spellings of numbers count as well. */
export function privateNetworkOf(address: string): PrivateNetwork | undefined {
  if (isLocalSocket(address)) return 'this-machine';
  const shown = withDefaults(address);
  // As `fetch` reads it: `http://2130706433` is `127.0.0.1`.
  const url = parseUrl(shown);
  const host = url === undefined ? '' : hostOf(url);
  if (host === '' || host.includes('$')) return undefined;
  const reach = reachOf(host);
  if (reach === undefined) return NAMES.find(([, pattern]) => pattern.test(host))?.[0];
  return reach === 'public' ? undefined : reach;
}

/** With each variable replaced by its default, which counts if nothing else is set. */
function withDefaults(address: string): string {
  const defaults = /\$\{[^{}:]+:-([^{}]*)\}/g;
  return address.replace(defaults, '$1').replace(defaults, '$1');
}
