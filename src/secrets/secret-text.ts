/**
 * Finds secrets in a text by how they are written: tokens with a form of their own, and values under the name of a secret in
 * the spellings of JSON, YAML, XML, ini files, shells, command lines and HTTP. Pure, and linear in the length of the text.
 */
import { MASK } from '../config/entry/mask.js';
import { isSecret, suggestsSecret } from './is-secret.js';

/** A secret in a text. */
export interface FoundSecret {
  /** What it is called there; undefined if its form shows what it is. */
  readonly name: string | undefined;
  readonly start: number;
  readonly end: number;
}

/** Whether the name of a value says that it is a secret. */
export type IsName = (name: string) => boolean;

interface Form {
  readonly pattern: RegExp;
  /** Whether a match is a secret, if the pattern alone does not show it. */
  readonly fits?: (match: string) => boolean;
}

const hasDigit = (text: string): boolean => /\d/.test(text);
const lastWord = (text: string): string => text.split(/\s+/).at(-1) ?? '';
const hasToken = (path: string): boolean => path.split('/').some((part) => isSecret([], part));

/** Tokens that are recognized without a name. If there is a group, only the group is secret. */
const FORMS: readonly Form[] = [
  { pattern: /\b(?:Bearer|Basic)\s+[\w.~+/-]{8,}=*/dgi, fits: (match) => isSecret([], lastWord(match)) },
  { pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/dg },
  {
    pattern:
      /(?<![\w-])(?:gh[oprsu]|github_pat|glpat|glsa|xox[abceoprs]|xapp|gsk|pplx|tvly|ntn|shpat|whsec|dop_v1|lin_api|figd|sbp|nvapi)[-_][\w-]{10,}/dg,
  },
  // Words and names of packages may begin like this, too.
  { pattern: /(?<![\w-])(?:(?:sk|pk|rk)[-_]|npm_|hf_|xai-|fc-)[\w-]{10,}/dg, fits: hasDigit },
  { pattern: /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/dg },
  { pattern: /\bAIza[\w-]{30,}/dg },
  { pattern: /\bya29\.[\w-]{20,}/dg },
  { pattern: /\bSG\.[\w-]{16,}\.[\w-]{16,}/dg },
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/dg },
  { pattern: /(?<=:\/\/)([^/\s:@"'<>]*:[^/\s"'<>]+)(?=@)/dg },
  // `user:password@tcp(host)`, as drivers for Go write it.
  { pattern: /(?<![\w.:/@-])[\w.-]{1,64}:([^\s:@/"'<>]{1,256})@(?=(?:tcp|unix)\()/dg },
  { pattern: /\bhttps?:\/\/hooks\.[\w.-]+\/([^\s"'<>?#]+)/dgi, fits: hasToken },
  {
    pattern: /\bhttps?:\/\/[\w.:-]+\/(?:[\w.-]+\/){0,6}?(?:services|webhooks?|hooks)\/([^\s"'<>?#]+)/dgi,
    fits: hasToken,
  },
  { pattern: /\/bot(\d{6,}:[\w-]{20,})/dg },
];

/** A spelling of named values: up to the value, and the value. */
interface Spelling {
  /** Has the groups `name` and, if the value is within quotes, `quote`. */
  readonly opener: RegExp;
  /** Matches a value without quotes, from its start. Absent if only quoted values count. */
  readonly plain?: RegExp;
}

const NAME = '(?<name>[\\w.-]{1,64})';
const QUOTE = '(?<quote>\\\\{0,7}["\'`])';
const LINE_START = '(?:^|\\\\n)[ \\t>*-]{0,20}';

const SPELLINGS: readonly Spelling[] = [
  // "name": "value", also in a JSON text within another
  { opener: /(?<quote>\\{0,7}["'])(?<name>[\w.-]{1,64})\k<quote>\s{0,8}:\s{0,8}\k<quote>/dg },
  // name="value", name=value
  { opener: new RegExp(`(?<![\\w.-])${NAME}=${QUOTE}`, 'dg') },
  { opener: new RegExp(`(?<![\\w.-])${NAME}=`, 'dg'), plain: /[^\s=&"'\\;,<>][^\s&"'\\;,<>]{3,}/y },
  // name = "value", "name" => "value", name = value
  { opener: new RegExp(`(?<![\\w.-])${NAME}["']?[ \\t]{0,8}(?::=|=>?)[ \\t]{0,8}${QUOTE}`, 'dg') },
  {
    opener: new RegExp(`${LINE_START}${NAME}[ \\t]{1,8}=[ \\t]{0,8}`, 'dgm'),
    plain: /[^\s=;,()"'][^\s;,()]*/y,
  },
  // name: value, of YAML and of headers, also "name: value" and { name: 'value' }
  { opener: new RegExp(`(?<![\\w.-])${NAME}["']?:[ \\t]{0,8}${QUOTE}`, 'dg') },
  {
    opener: new RegExp(`${LINE_START}["']?${NAME}["']?:[ \\t]{0,8}(?!//)`, 'dgm'),
    plain: /[|>][-+\d]{0,2}[ \t]*(?:\n[ \t]+[^\n]*)+|[^\s#"'][^\n\\]*/y,
  },
  { opener: new RegExp(`["'\`]${NAME}:[ \\t]{0,8}(?!//)`, 'dg'), plain: /[^\s"'`][^\n"'`\\]*/y },
  // <name>value</name>
  {
    opener: new RegExp(`<(?:[\\w-]{1,20}:)?${NAME}(?:\\s[^<>]{0,200})?(?<!/)>`, 'dg'),
    plain: /<!\[CDATA\[[^]*?(?:\]\]>|$)|[^<]+/y,
  },
  // <add key="name" value="value"/>
  {
    opener:
      /\b(?:key|name)=(?<begin>["'])(?<name>[\w.-]{1,64})\k<begin>[^<>]{0,100}?\bvalue=(?<quote>["'])/dg,
  },
  // --name value, --name "value"
  { opener: new RegExp(`(?<![\\w-])-{1,2}${NAME}[ \\t]+${QUOTE}`, 'dg') },
  { opener: new RegExp(`(?<![\\w-])-{1,2}${NAME}[ \\t]+`, 'dg'), plain: /[^\s"'`-][^\s"'`]{3,}/y },
];

/** The secrets that a text shows, in no particular order. They may overlap. */
export function secretsIn(text: string, isName: IsName): readonly FoundSecret[] {
  return [
    ...FORMS.flatMap((form) => ofForm(text, form)),
    ...SPELLINGS.flatMap((each) => ofSpelling(text, each, isName)),
  ];
}

/** Found in every text that one of the forms matches. Most texts have none of them, and every event is searched. */
const ANY_FORM =
  /(?:bearer|basic)\s|eyJ|[-_][\w-]{10}|A(?:KIA|SIA|Iza)|ya29\.|SG\.|-----BEGIN|:\/\/|@(?:tcp|unix)\(|\/bot\d/i;

/** The same for values under the name of a secret: a part of such a name, and what stands between name and value. */
const ANY_NAME =
  /pass|p(?:wd?|at|in|sk)|se(?:cret|ssion)|token|key|auth|bearer|cookie|signature|webhook|cred|dsn|jwt|otp|sa[lt]|sas|sid/i;
const ANY_VALUE = /[:=>]|--/;

/**
 * Masks tokens that are recognized without a name, and single words with the name of a secret, unless they consist of letters
 * alone: sentences about tokens and keys stay readable.
 */
export function maskShown(text: string): string {
  const forms = ANY_FORM.test(text) ? FORMS.flatMap((form) => ofForm(text, form)) : [];
  const isNamed = ANY_VALUE.test(text) && ANY_NAME.test(text);
  const named = isNamed ? SPELLINGS.flatMap((each) => ofSpelling(text, each, suggestsSecret)) : [];
  const secrets = named.filter(({ name = '', start, end }) => {
    const value = text.slice(start, end);
    return /^\S{6,}$/.test(value) && /[\d_-]/.test(value) && value !== MASK && isSecret([name], value);
  });
  return masked(text, [...forms, ...secrets]);
}

export function masked(text: string, found: readonly FoundSecret[]): string {
  let shown = '';
  let at = 0;
  for (const { start, end } of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (end <= at) continue;
    if (start >= at) shown += text.slice(at, start) + MASK;
    at = end;
  }
  return at === 0 ? text : shown + text.slice(at);
}

function ofForm(text: string, { pattern, fits = () => true }: Form): FoundSecret[] {
  return [...text.matchAll(pattern)].flatMap((match) => {
    const [start, end] = match.indices?.[1] ?? match.indices?.[0] ?? [0, 0];
    return fits(text.slice(start, end)) ? [{ name: undefined, start, end }] : [];
  });
}

function ofSpelling(text: string, { opener, plain }: Spelling, isName: IsName): FoundSecret[] {
  const found: FoundSecret[] = [];
  opener.lastIndex = 0;
  for (let match = opener.exec(text); match !== null; match = opener.exec(text)) {
    const { name = '', quote } = match.groups ?? {};
    if (!isName(name)) continue;
    const start = opener.lastIndex;
    const end = quote === undefined ? endOfPlain(text, start, plain) : endOfQuoted(text, start, quote);
    if (end <= start) continue;
    found.push({ name, start, end });
    // What is inside a secret is secret anyway.
    opener.lastIndex = end;
  }
  return found;
}

/** The place of the closing quote that is not escaped itself; the end of the text if there is none. */
function endOfQuoted(text: string, start: number, quote: string): number {
  let at = text.indexOf(quote, start);
  while (at > start && text[at - 1] === '\\') at = text.indexOf(quote, at + 1);
  return at === -1 ? text.length : at;
}

function endOfPlain(text: string, start: number, plain: RegExp | undefined): number {
  if (plain === undefined) return start;
  plain.lastIndex = start;
  const value = plain.exec(text)?.[0] ?? '';
  return start + value.trimEnd().length;
}
