/**
 * Strikes out what must not be told: the values of an entry's env and headers, of the variables it refers to, and of
 * the credentials and query of its address, wherever a server or an error repeats them.
 *
 * Values shorter than four characters are left alone: they would be found everywhere and hide nothing.
 */
import { MASK } from './config/mask.js';
import type { ServerConfig } from './options.js';
import type { RawFailure } from './transports/session-transport.js';

export type Mask = (text: string) => string;

const SHORTEST_SECRET = 4;

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

/** The secret values of an expanded entry, and those of the variables that were put into it. */
export function secretsOf(
  config: ServerConfig,
  variables: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const values = variables.filter((name) => !NO_SECRETS.has(name)).map((name) => env[name] ?? '');
  if (!('server' in config)) values.push(...Object.values(config.env ?? {}));
  if ('url' in config)
    values.push(...Object.values(config.headers ?? {}).flatMap(headerSecrets), ...urlSecrets(config.url));
  const host = hostOf(config);
  return values
    .flatMap(withLines)
    .filter((value) => value.length >= SHORTEST_SECRET && !host.includes(value));
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

/** `Bearer TOKEN` hides the token alone as well. */
function headerSecrets(value: string): readonly string[] {
  return [value, ...value.split(' ').slice(1)];
}

function urlSecrets(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  return [url.username, url.password, ...url.searchParams.values()].filter((value) => value !== '');
}

export const NO_MASK: Mask = (text) => text;

/** Replaces every known secret, also as JSON and addresses spell it, the longest first. */
export function createMask(secrets: Iterable<string>): Mask {
  const spelled = [...secrets].flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ]);
  const known = [...new Set(spelled)].toSorted((a, b) => b.length - a.length);
  if (known.length === 0) return NO_MASK;
  return (text) => known.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
}

/** The same failure with its texts masked; its code, phase and figures are ours and stay. */
export function maskFailure<T extends RawFailure>(failure: T, mask: Mask): T {
  const { message, hint, stderrTail, http } = failure;
  return {
    ...failure,
    message: mask(message),
    ...(hint === undefined ? {} : { hint: mask(hint) }),
    ...(stderrTail === undefined ? {} : { stderrTail: stderrTail.map(mask) }),
    ...(http === undefined ? {} : { http: maskJson(http, mask) }),
  };
}

/** The same JSON with every text in it masked; names of fields stay. */
export function maskJson<T>(value: T, mask: Mask): T {
  if (mask === NO_MASK) return value;
  if (typeof value === 'string') return mask(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskJson(item, mask)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, maskJson<unknown>(item, mask)]),
  ) as T;
}
