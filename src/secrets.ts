/**
 * Strikes out what must not be told: the values of an entry's env and headers, of the variables it refers to and their
 * defaults, and of the credentials and query of its address, wherever a server or an error repeats them.
 *
 * X1. A secret is found as it is, as `spelled-secret.ts` knows it spelled, and where its end was cut off.
 * X2. Values shorter than four characters are left alone: they would be found everywhere and hide nothing. What is only
 *     likely to be a secret, such as a default, has eight.
 */
import { MASK } from './config/mask.js';
import type { ServerConfig } from './options.js';
import { percentDecoded } from './percent-decoded.js';
import { base64Spellings, cutSpelling, spellings } from './spelled-secret.js';
import type { RawFailure } from './transports/session-transport.js';

export type Mask = (text: string) => string;

export const SHORTEST_SECRET = 4;
const SHORTEST_LIKELY_SECRET = 8;
/** Texts are cut at a length above this. */
const SHORTEST_CUT_TEXT = 100;

/** Places and names of this machine, told everywhere anyway. */
const NO_SECRETS: ReadonlySet<string> = new Set([
  'HOME',
  'PATH',
  'PWD',
  'SHELL',
  'TMPDIR',
  'USER',
  'LOGNAME',
  'LANG',
]);

/**
 * The secret values of an expanded entry, and those of the variables that were put into it; `defaults` are the texts
 * that stand in for variables which are not set.
 */
export function secretsOf(
  config: ServerConfig,
  variables: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  defaults: readonly string[] = [],
): readonly string[] {
  const values = variables.filter((name) => !NO_SECRETS.has(name)).map((name) => env[name] ?? '');
  if (!('server' in config)) values.push(...Object.values(config.env ?? {}));
  values.push(...defaults.filter(isLikely));
  const secrets = values.flatMap(valueSecrets);
  if ('url' in config) {
    secrets.push(...values.flatMap(asInAddress).filter(isLikely), ...urlSecrets(config.url));
    secrets.push(...Object.values(config.headers ?? {}).flatMap(headerSecrets));
  }
  const host = hostOf(config);
  const told = secrets
    .flatMap(withLines)
    .filter((value) => value.length >= SHORTEST_SECRET && !host.includes(value));
  return [...new Set(told)];
}

export function isLikely(value: string): boolean {
  return value.length >= SHORTEST_LIKELY_SECRET;
}

/** Host and port of an address are told to everybody on the way there. */
function hostOf(config: ServerConfig): string {
  return 'url' in config && URL.canParse(config.url) ? new URL(config.url).host : '';
}

/** A key of several lines is told line by line. */
function withLines(value: string): readonly string[] {
  const lines = value.split(/\r?\n/);
  return lines.length === 1 ? lines : [value, ...lines];
}

/** The value, and the token or the password in it alone. */
function valueSecrets(value: string): readonly string[] {
  const password = URL.canParse(value) ? new URL(value).password : '';
  return [value, password, percentDecoded(password), ...credentialSecrets(value)];
}

/** `Bearer TOKEN` hides the token alone as well, and `Basic PAIR` the password in it (RFC 7617). */
function credentialSecrets(value: string): readonly string[] {
  const [, scheme = '', token = ''] = /^(basic|bearer|token) +(\S+)$/i.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [token];
  const pair = Buffer.from(token, 'base64').toString();
  return [token, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** What follows a scheme, and the values of parameters and cookies. */
function headerSecrets(value: string): readonly string[] {
  const parts = value.split(/[\s;,]+/);
  const parameters = parts.map((part) => part.slice(part.indexOf('=') + 1).replaceAll('"', ''));
  return [value, ...parts.slice(1), ...parameters.filter(isLikely), ...credentialSecrets(value)];
}

/** As they are written, and as they are meant. */
function urlSecrets(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const { username, password, search, searchParams, hash } = new URL(text);
  const written = search.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
  return [
    ...[username, password, hash.slice(1)].flatMap((part) => [part, percentDecoded(part)]),
    ...written,
    ...searchParams.values(),
  ];
}

/** What becomes of a value that is put into an address (WHATWG URL), and of that at the server. */
function asInAddress(value: string): readonly string[] {
  const parts = value.replaceAll('\\', '/').split(/[?#]/);
  return [percentDecoded(value), ...parts, ...parts.map(percentDecoded)];
}

export const NO_MASK: Mask = (text) => text;

/** Replaces every known secret, however it is spelled, the longest first. */
export function createMask(secrets: Iterable<string>): Mask {
  const known = [...new Set(secrets)].toSorted((a, b) => b.length - a.length);
  if (known.length === 0) return NO_MASK;
  const long = known.filter(isLikely);
  const whole = [...known.flatMap(spellings), ...long.flatMap(base64Spellings)];
  const cut = long.map((secret) => cutSpelling(secret, SHORTEST_LIKELY_SECRET));
  return (text) => {
    const masked = strike(text, whole);
    return text.length < SHORTEST_CUT_TEXT ? masked : strike(masked, cut);
  };
}

function strike(text: string, secrets: readonly (string | RegExp)[]): string {
  return secrets.reduce<string>((masked, secret) => masked.replaceAll(secret, MASK), text);
}

/** The same failure with its texts masked; its code, phase and figures are ours and stay. */
export function maskFailure<T extends RawFailure>(failure: T, mask: Mask): T {
  const { message, hint, stderrTail, http } = failure;
  return {
    ...failure,
    message: mask(message),
    ...(hint === undefined ? {} : { hint: mask(hint) }),
    ...(stderrTail === undefined ? {} : { stderrTail: stderrTail.map(mask) }),
    ...(http === undefined ? {} : { http: maskFields(http, mask) }),
  };
}

/** Of an object whose names are ours: they stay. */
function maskFields<T extends object>(value: T, mask: Mask): T {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, maskJson<unknown>(item, mask)]),
  ) as T;
}

/**
 * The same JSON with every text in it masked, names of fields included, unless they are among those to keep. What lies
 * deeper than `levels` is left out, so that neither this nor anybody after it runs out of stack.
 */
export function maskJson<T>(
  value: T,
  mask: Mask,
  kept: ReadonlySet<string> = NO_NAMES,
  levels = MOST_LEVELS,
): T {
  if (typeof value === 'string') return mask(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return TOO_DEEP as T;
  const inner = (item: unknown): unknown => maskJson(item, mask, kept, levels - 1);
  if (Array.isArray(value)) return value.map(inner) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [kept.has(key) ? key : mask(key), inner(item)]),
  ) as T;
}

const NO_NAMES: ReadonlySet<string> = new Set();
const MOST_LEVELS = 100;
const TOO_DEEP = '[nested too deeply]';
