/**
 * Keeps texts of any length in a keychain whose entries are short (Windows). A longer text is cut into pieces with entries of
 * their own; the entry that is looked for names them.
 *
 * K1. The entry is written last: a reader finds the old text or the new one.
 * K2. Pieces that no entry names any more are removed.
 */
import { randomBytes } from 'node:crypto';
import { isObject } from '../../config/entry/read-shape.js';
import { parseJson } from '../../json/parse-json.js';

/** One entry of the keychain. */
export interface KeychainEntry {
  getPassword(): Promise<string | null | undefined>;
  setPassword(password: string): Promise<void>;
  deletePassword(): Promise<unknown>;
}

/** Opens the entry of that name. */
export type OpenEntry = (account: string) => KeychainEntry;

/** The names of the pieces, in order. */
interface Pieces {
  readonly pieces: number;
  readonly of: string;
}

export class KeychainPieces {
  readonly #open: OpenEntry;
  readonly #most: number;

  /** @param most Most characters of one entry. */
  constructor(open: OpenEntry, most: number) {
    this.#open = open;
    this.#most = most;
  }

  /** Undefined if there is none, or if a piece of it is missing. */
  async read(account: string): Promise<string | undefined> {
    const text = (await this.#open(account).getPassword()) ?? undefined;
    const cut = text === undefined ? undefined : piecesIn(text);
    if (cut === undefined) return text;
    const pieces = await Promise.all(this.#entriesOf(account, cut).map((entry) => entry.getPassword()));
    return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : undefined;
  }

  async write(account: string, text: string): Promise<void> {
    const before = await this.#cutAt(account);
    const isShort = text.length <= this.#most;
    const pieces = isShort ? [] : cutIn(text, this.#most);
    const cut: Pieces = { pieces: pieces.length, of: randomBytes(6).toString('hex') };
    const entries = this.#entriesOf(account, cut);
    for (const [index, piece] of pieces.entries()) await entries[index]?.setPassword(piece);
    await this.#open(account).setPassword(isShort ? text : JSON.stringify(cut));
    await this.#removePieces(account, before);
  }

  async forget(account: string): Promise<void> {
    const before = await this.#cutAt(account);
    await remove(this.#open(account));
    await this.#removePieces(account, before);
  }

  async #cutAt(account: string): Promise<Pieces | undefined> {
    return piecesIn((await this.#open(account).getPassword()) ?? '');
  }

  async #removePieces(account: string, cut: Pieces | undefined): Promise<void> {
    if (cut !== undefined) await Promise.all(this.#entriesOf(account, cut).map(remove));
  }

  #entriesOf(account: string, { pieces, of }: Pieces): readonly KeychainEntry[] {
    return Array.from({ length: pieces }, (_, index) => this.#open(`${account}\n${of}.${index}`));
  }
}

async function remove(entry: KeychainEntry): Promise<void> {
  if (typeof (await entry.getPassword()) === 'string') await entry.deletePassword();
}

/** A sign-in has no field of that name. */
function piecesIn(text: string): Pieces | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { pieces, of } = value as Partial<Pieces>;
  return Number.isSafeInteger(pieces) && typeof of === 'string'
    ? { pieces: pieces as number, of }
    : undefined;
}

function cutIn(text: string, most: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / most) }, (_, index) =>
    text.slice(index * most, (index + 1) * most),
  );
}
