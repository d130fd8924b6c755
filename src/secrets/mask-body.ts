/** Masks a message before it is recorded: known secrets, and values that are secret by their name or form. */
import { MASK } from '../config/entry/mask.js';
import { isCommonWord, wordsOf } from './is-secret.js';
import { masked, secretsIn } from './secret-text.js';
import { isLikely, maskJson, type Mask } from './secrets.js';

/** Found in the name of a secret. */
const SECRET_NAMES =
  /pass(?:word|wd|phrase|code)|secret|token(?!s\b)|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization|credential|cookie|bearer|signature|session[-_ ]?id/i;
/** Found as a whole word of a name. A message has too many fields with names such as `key` and `session`. */
const SECRET_WORDS: ReadonlySet<string> = new Set(['pwd', 'pass', 'pw', 'otp', 'auth', 'jwt', 'pat', 'pin']);

/** Names of the protocol that sound secret but are not. */
const NO_SECRETS: ReadonlySet<string> = new Set(['progressToken']);

/** `found` is called with every text that is secret by its name: the other side may repeat it anywhere. */
export function maskBody(message: unknown, mask: Mask, found: (secret: string) => void = () => {}): unknown {
  return withoutNamed(
    maskJson(message, (text) => maskText(mask(text), found)),
    found,
  );
}

function maskText(text: string, found: (secret: string) => void): string {
  const secrets = secretsIn(text, isSecret).filter(
    ({ name, start, end }) => name === undefined || !isCommonWord(text.slice(start, end)),
  );
  for (const { name, start, end } of secrets) {
    if (name === undefined) continue;
    const value = text.slice(start, end);
    found(value);
    // The token after a scheme.
    const [, token = ''] = /^\w+ +(\S+)$/.exec(value) ?? [];
    if (isLikely(token)) found(token);
  }
  return masked(text, secrets);
}

/** `maskJson` has already limited the depth. */
function withoutNamed(value: unknown, found: (secret: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNamed(item, found));
  if (typeof value !== 'object' || value === null) return value;
  const ofPair = nameOfPair(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSecret(name === 'value' ? ofPair : name) ? withoutValues(item, found) : withoutNamed(item, found),
    ]),
  );
}

/** The name in `{ name: 'Authorization', value: '…' }`, as in lists of headers and variables. */
function nameOfPair(value: object): string {
  const { name, key = name } = value as { readonly name?: unknown; readonly key?: unknown };
  return typeof key === 'string' ? key : '';
}

function isSecret(name: string): boolean {
  if (NO_SECRETS.has(name)) return false;
  return SECRET_NAMES.test(name) || wordsOf(name).some((word) => SECRET_WORDS.has(word));
}

/** Masks texts and numbers, also in lists. The fields of an object are judged by their own names. */
function withoutValues(item: unknown, found: (secret: string) => void): unknown {
  if (Array.isArray(item)) return item.map((each) => withoutValues(each, found));
  if (typeof item !== 'string' && typeof item !== 'number') return withoutNamed(item, found);
  found(String(item));
  return MASK;
}
