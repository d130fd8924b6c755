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
  const reader = new AddressReader(partsOf(env));
  const text = maskUrlParts(reader.show(template.parts));
  return { text, deciding: reader.deciding };
}

type OwnParts = ReadonlyMap<string, readonly Part[]>;

/** A text may refer to those before it, as it may when it is expanded. */
function partsOf(env: Readonly<Record<string, string>>): OwnParts {
  const own = new Map<string, readonly Part[]>();
  for (const [name, text] of Object.entries(env)) {
    const template = parseTemplate(text, false);
    if ('problem' in template) continue;
    own.set(
      name,
      template.parts.flatMap((part) => ownPartsOf(part, own) ?? [part]),
    );
  }
  return own;
}

function ownPartsOf(part: Part, own: OwnParts): readonly Part[] | undefined {
  return part.kind === 'variable' && part.origin === 'host' ? own.get(part.name) : undefined;
}

/** What a variable holds is not known: it is taken for a piece of a name. */
const UNKNOWN = 'x';

class AddressReader {
  readonly deciding: Variable[] = [];
  #before = '';

  constructor(private readonly own: OwnParts) {}

  show(parts: readonly Part[]): string {
    return parts.map((part) => this.#showPart(part)).join('');
  }

  #showPart(part: Part): string {
    if (part.kind === 'text') {
      this.#before += part.text;
      return part.text;
    }
    const { name, fallback } = part;
    if (this.#isPastHost()) return `\${${name}${fallback === undefined ? '' : `:-${MASK}`}}`;
    this.deciding.push(part);
    const own = ownPartsOf(part, this.own);
    if (own !== undefined) return this.show(own);
    const instead = fallback === undefined ? '' : `:-${this.#showAside(fallback)}`;
    this.#before += UNKNOWN;
    return `\${${name}${instead}}`;
  }

  /** A default may be used or not, so that what follows begins where it began. */
  #showAside(fallback: readonly Part[]): string {
    const before = this.#before;
    const text = maskUrlParts(this.show(fallback));
    this.#before = before;
    return text;
  }

  #isPastHost(): boolean {
    return /[/\\?#]/.test(this.#before.replace(/^[^:/\\?#]*:[/\\]*/, ''));
  }
}
