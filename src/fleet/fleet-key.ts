/**
 * Seals what hosts share, so that whoever can read or write the engine learns nothing and changes nothing unnoticed.
 *
 * S1. AES-256-GCM. The name of the entry is authenticated with it: a value that was moved to another name is refused.
 * S2. The first key seals, and every key opens, so a key is replaced in two steps without an outage.
 * S3. A sealed text names its key by eight digits of a hash: `1.KEY.BYTES`.
 * S4. An older value of the same entry opens, too: whoever can write the engine can bring it back.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { FleetError } from './engine.js';

/** The environment variable with the key. Several keys are separated by commas. */
export const KEY_VARIABLE = 'TROUPE_FLEET_KEY';

const FORMAT = '1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** One of the keys of a fleet, for one use. */
export interface DerivedKey {
  /** Eight digits of a hash. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The first signs or seals, and all verify or open. */
export type DerivedKeys = readonly [DerivedKey, ...DerivedKey[]];

type DerivableKeys = readonly [Buffer, ...Buffer[]];

export class FleetKey {
  readonly #given: DerivableKeys;
  readonly #keys: DerivedKeys;

  /** Throws a `TypeError` that does not show the keys. */
  constructor(texts: readonly string[]) {
    const [first, ...others] = texts.map(toBytes);
    if (first === undefined) throw new TypeError(ADVICE);
    this.#given = [first, ...others];
    this.#keys = this.derive('troupe fleet entries');
  }

  /** Keys for one use, in the given order: the label keeps the uses apart (RFC 5869, HKDF). */
  derive(label: string): DerivedKeys {
    const [first, ...others] = this.#given;
    return [toKey(first, label), ...others.map((each) => toKey(each, label))];
  }

  seal(name: string, text: string): string {
    const [{ id, bytes }] = this.#keys;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES }).setAAD(
      Buffer.from(name),
    );
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${FORMAT}.${id}.${sealed.toString('base64url')}`;
  }

  /** Throws a `FleetError` if it was sealed with another key, or changed. */
  open(name: string, sealed: string): string {
    const [format, id, text = ''] = sealed.split('.');
    const own = this.#keys.map((key) => key.id);
    const key = this.#keys.find((each) => each.id === id);
    if (format === FORMAT && key === undefined) {
      const message = `The entry '${name}' of the fleet was sealed with the key ${id}, and this host has ${own.join(', ')}.`;
      throw new FleetError('wrong-key', `${message} Give all hosts of the fleet the same key.`);
    }
    try {
      if (format !== FORMAT || key === undefined) throw new Error('another format');
      const bytes = Buffer.from(text, 'base64url');
      const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(-TAG_BYTES)];
      const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(name)).setAuthTag(tag);
      return (
        decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    } catch {
      const message = `The entry '${name}' of the fleet cannot be opened: it was changed without the key, or by a newer version.`;
      throw new FleetError('entry-broken', message);
    }
  }
}

const ADVICE =
  "createFleet: 'key' must be 32 random bytes in base64 or as 64 hexadecimal digits, or a list of such keys; " +
  `without it, the variable ${KEY_VARIABLE} is read. 'openssl rand -base64 32' makes one.`;

function toBytes(text: string): Buffer {
  const given = typeof text === 'string' ? text.trim() : '';
  const isHex = /^[0-9a-f]{64}$/i.test(given);
  const bytes = /^[\w+/-]{43}=?$/.test(given)
    ? Buffer.from(given, 'base64')
    : Buffer.from(isHex ? given : '', 'hex');
  if (bytes.length !== KEY_BYTES) throw new TypeError(ADVICE);
  return bytes;
}

function toKey(given: Buffer, label: string): DerivedKey {
  const bytes = Buffer.from(hkdfSync('sha256', given, '', label, KEY_BYTES));
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
}
