/** Masks a message before it is recorded: known secrets, and values that are secret by their name or form. */
import { MASK } from '../config/entry/mask-entry.js';
import { maskJson, type Mask } from './secrets.js';

/** Found in the name of a secret. */
const WORDS =
  'pass(?:word|wd|phrase|code)|secret|token(?!s\\b)|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization|credential|cookie|bearer|signature';
const SECRET_NAMES = new RegExp(WORDS, 'i');

/** Names of the protocol that sound secret but are not. */
const NO_SECRETS: ReadonlySet<string> = new Set(['progressToken']);

/** Tokens with a recognizable form. */
const SECRET_FORMS = [
  /\b(?:Bearer|Basic)\s+[\w.~+/-]{8,}=*/gi,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abposr]|npm|hf)[-_][\w-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=:\/\/)[^/\s:@]+:[^/\s@]+(?=@)/g,
];

/** A field of JSON, which may itself be in a JSON string: `\"apiKey\":\"…\"`. Its name is the third group. */
const QUOTED_FIELD = new RegExp(
  `((\\\\{0,7}["'])([\\w.-]{0,40}?(?:${WORDS})[\\w.-]{0,40})\\2\\s{0,8}:\\s{0,8}\\2)[^]*?((?<!\\\\)\\2|$)`,
  'gi',
);
/** `DB_PASSWORD=…` and `?api_key=…`: a quoted value, or one without spaces and with at least four characters. */
const ASSIGNMENT = new RegExp(
  `((?:${WORDS})[\\w.-]{0,40}=)(?:(\\\\{0,7}["'])[^\\n]*?(?:(?<!\\\\)\\2|$)|[^\\s=&"'\\\\;,<>][^\\s&"'\\\\;,<>]{3,})`,
  'gim',
);

/** `found` is called with every text that is secret by its name: the other side may repeat it anywhere. */
export function maskBody(message: unknown, mask: Mask, found: (secret: string) => void = () => {}): unknown {
  return withoutNamed(
    maskJson(message, (text) => withoutForms(mask(text))),
    found,
  );
}

function withoutForms(text: string): string {
  return SECRET_FORMS.reduce((shown, form) => shown.replace(form, MASK), text)
    .replace(QUOTED_FIELD, (field: string, begin: string, _: string, name: string, end: string) =>
      NO_SECRETS.has(name) ? field : `${begin}${MASK}${end}`,
    )
    .replace(ASSIGNMENT, `$1${MASK}`);
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
  return !NO_SECRETS.has(name) && SECRET_NAMES.test(name);
}

/** Masks texts and numbers, also in lists. The fields of an object are judged by their own names. */
function withoutValues(item: unknown, found: (secret: string) => void): unknown {
  if (Array.isArray(item)) return item.map((each) => withoutValues(each, found));
  if (typeof item !== 'string' && typeof item !== 'number') return withoutNamed(item, found);
  found(String(item));
  return MASK;
}
