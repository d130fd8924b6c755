/** Messages as they may be written down: secrets by what is known of them, by their names, and by their form. */
import { MASK } from '../config/mask.js';
import { maskJson, type Mask } from '../secrets.js';

const SECRET_NAMES =
  /pass(?:word|wd|phrase|code)|secret|token(?!s$)|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization|credential|cookie|bearer|signature/i;

/** Tokens that say what they are. */
const SECRET_FORMS = [
  /\b(?:Bearer|Basic)\s+[\w.~+/-]{8,}=*/gi,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abposr]|npm|hf)[-_][\w-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=:\/\/)[^/\s:@]+:[^/\s@]+(?=@)/g,
];

/** Names of the protocol that sound like secrets and hold none. */
const NO_SECRETS: ReadonlySet<string> = new Set(['progressToken']);

/** `found` hears of every text that is taken for a secret by its name: the other side may repeat it anywhere. */
export function maskBody(message: unknown, mask: Mask, found: (secret: string) => void = () => {}): unknown {
  const masked = maskJson(message, (text) =>
    SECRET_FORMS.reduce((shown, form) => shown.replace(form, MASK), mask(text)),
  );
  return withoutNamed(masked, found);
}

/** Deeper than `maskJson` goes there is nothing. */
function withoutNamed(value: unknown, found: (secret: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNamed(item, found));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      if (!isSecret(name, item)) return [name, withoutNamed(item, found)];
      found(String(item));
      return [name, MASK];
    }),
  );
}

function isSecret(name: string, item: unknown): boolean {
  const isValue = typeof item === 'string' || typeof item === 'number';
  return isValue && !NO_SECRETS.has(name) && SECRET_NAMES.test(name);
}
