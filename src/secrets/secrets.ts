/**
 * `src/secrets` finds the secrets of a configuration and masks them wherever a server or an error repeats them: the
 * values of an entry's env and headers, of the variables that it refers to and their defaults, of its arguments, and of the
 * credentials, query and path of its address and of those in its arguments and env. Longer than 300 lines because each place
 * of an entry has its own short function.
 *
 * X1. A secret is found unchanged, in the spellings of `secret-encodings.ts`, and if its end was cut off.
 * X2. Values shorter than four characters are not masked: they would be found everywhere and protect nothing. A value
 *     that is only likely to be a secret, such as a default, needs eight.
 */
import { MASK } from '../config/entry/mask.js';
import { maskConfig } from '../config/entry/mask-entry.js';
import { references } from '../config/entry/expand.js';
import type { Path } from '../config/entry/problem.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { textsIn } from '../config/entry/template.js';
import { percentDecoded } from '../text/host-reach.js';
import { base64Spellings, cutSpelling, spellings } from './secret-encodings.js';
import { hasRandomPiece, isSecret, suggestsSecret } from './is-secret.js';
import { masked, secretsIn } from './secret-text.js';
import type { RawFailure } from '../failures/transport-error.js';
import { parseUrl } from '../text/parse-url.js';

export type Mask = (text: string) => string;

export const MIN_SECRET = 4;
const MIN_LIKELY_SECRET = 8;
/** No text is cut below this length. */
const MIN_CUT_TEXT = 100;

/** Paths and names of this machine, which appear everywhere anyway. */
const NO_SECRETS: ReadonlySet<string> = new Set([
  'HOME',
  'PATH',
  'PWD',
  'SHELL',
  'TMPDIR',
  'USER',
  'LOGNAME',
  'LANG',
  'USERPROFILE',
  'USERNAME',
  'APPDATA',
  'LOCALAPPDATA',
  'TEMP',
  'TMP',
]);

/**
 * The secrets of an entry as it is started: literal ones and those from its variables.
 *
 * @param written - The entry with its references.
 * @param config - The same, expanded.
 * @param values - The values of the references, by name.
 * @param hidden - Names of values that a person types hidden; always secret.
 */
export function secretsOf(
  written: ServerConfig,
  config: ServerConfig,
  values: Readonly<Record<string, string | undefined>> = {},
  hidden: ReadonlySet<string> = NOTHING_HIDDEN,
): readonly string[] {
  const secrets = [
    ...referenceSecrets(written, values, hidden),
    ...inheritedSecrets(config, values),
    ...literalSecrets(config),
  ];
  const host = hostOf(config);
  const known = secrets
    .flatMap(withLines)
    .filter((value) => value.length >= MIN_SECRET && !host.includes(value));
  return [...new Set(known)];
}

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** The values of its variables, and the defaults that stand in for them. */
function referenceSecrets(
  written: ServerConfig,
  values: Readonly<Record<string, string | undefined>>,
  hidden: ReadonlySet<string>,
): readonly string[] {
  const spell = (value: string): readonly string[] =>
    'url' in written ? [value, ...asInAddress(value).filter(isLikely)] : [value];
  return references(written).flatMap(({ name, path, fallback = [] }) => {
    const names = [name, ...namesAt(written, path)];
    const value = NO_SECRETS.has(name) ? '' : (values[name] ?? '');
    const defaults = path[0] === 'command' || path[0] === 'cwd' ? [] : textsIn(fallback).filter(isLikely);
    if (hidden.has(name)) return [...spell(value), ...textSecrets(value)];
    return [value, ...defaults].flatMap((text) => valueSecrets(names, text).flatMap(spell));
  });
}

/** Secrets in the host's variables that a program inherits. */
function inheritedSecrets(
  config: ServerConfig,
  values: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { inheritEnv = [] } = 'command' in config ? config : {};
  if (inheritEnv === false) return [];
  const names = inheritEnv === true ? Object.keys(values) : inheritEnv;
  return names
    .filter((name) => !NO_SECRETS.has(name))
    .flatMap((name) => {
      const value = values[name] ?? '';
      // Most variables of the host do not concern the server.
      return inheritEnv === true && !suggestsSecret(name) ? passwordsOf(value) : valueSecrets([name], value);
    });
}

/** The names of the variable, header or option that a field of the entry belongs to. */
function namesAt(config: ServerConfig, [field, key]: Path): readonly string[] {
  if (field === 'args' && 'command' in config) {
    return optionNames(config.args?.[Number(key)] ?? '', config.args?.[Number(key) - 1]);
  }
  return field === 'env' || field === 'headers' ? [String(key)] : [];
}

const OPTION_NAME = /^-{0,2}([A-Za-z][\w-]*)\s*[:=]\s*(?!\/\/)/;

/** The names in `--token=x`, in `x` after `--token`, and in `Authorization: x` after `--header`. */
function optionNames(argument: string, before = ''): readonly string[] {
  const [, own = ''] = OPTION_NAME.exec(argument) ?? [];
  const [, option = ''] = /^-{1,2}([A-Za-z][\w-]+)$/.exec(before) ?? [];
  return [own, option].filter((name) => name !== '');
}

function literalSecrets(config: ServerConfig): readonly string[] {
  if ('server' in config) return [];
  const secrets = Object.entries(config.env ?? {}).flatMap(([name, value]) => valueSecrets([name], value));
  if ('command' in config) return [...secrets, ...argumentSecrets(config.args ?? [])];
  const headers = Object.entries(config.headers ?? {});
  const { clientSecret = '' } = config.oauth || {};
  return [
    ...secrets,
    clientSecret,
    ...urlSecrets(config.url),
    ...(typeof config.proxy === 'string' ? textSecrets(config.proxy) : []),
    ...headers.flatMap(([name, value]) => [
      ...named([name], headerSecrets(value)),
      ...credentialSecrets(value),
    ]),
  ];
}

function named(names: readonly string[], values: readonly string[]): readonly string[] {
  return values.filter((value) => isSecret(names, value));
}

/** The values of options with the name of a secret, and what has the form of a secret. */
function argumentSecrets(args: readonly string[]): readonly string[] {
  return args.flatMap((argument, index) => {
    const names = optionNames(argument, args[index - 1]);
    const value = argument.replace(OPTION_NAME, '');
    const holdsValue = value !== argument || !argument.startsWith('-');
    return [
      ...textSecrets(argument),
      ...(value === argument ? [] : textSecrets(value)),
      ...(isToken(value) ? [value] : []),
      ...(holdsValue && names.some(suggestsSecret) ? named(names, [value, ...credentialSecrets(value)]) : []),
    ];
  });
}

/** A text without separators that looks random. Most arguments are options, words, paths, packages and code. */
function isToken(value: string): boolean {
  if (!/^(?!-)(?=.*\d)(?=.*[a-z])[\w+/=.~-]{16,}$/i.test(value) || /\/.*\.\w{1,6}$/.test(value)) return false;
  return isSecret([], value) && hasRandomPiece(value);
}

export function isLikely(value: string): boolean {
  return value.length >= MIN_LIKELY_SECRET;
}

/** Host and port of an address are no secret: the network sees them. */
function hostOf(config: ServerConfig): string {
  return ('url' in config && parseUrl(config.url)?.host) || '';
}

/** A key of several lines may be repeated line by line. */
function withLines(value: string): readonly string[] {
  const lines = value.split(/\r?\n/);
  return lines.length === 1 ? lines : [value, ...lines];
}

/** The value, if its name or form says that it is a secret, and what is secret in it. Of an address with a password only that. */
function valueSecrets(names: readonly string[], value: string): readonly string[] {
  const whole = isSecret(names, value)
    ? [passwordOf(value) === '' ? value : '', ...credentialSecrets(value)]
    : [];
  return [...whole, ...textSecrets(value)];
}

/** What a text shows to be secret: by its form, by a name before it, and as a part of an address. */
function textSecrets(text: string): readonly string[] {
  const found = secretsIn(text, suggestsSecret).flatMap(({ name, start, end }) => {
    const value = text.slice(start, end);
    if (name === undefined) return afterColon(value);
    return named([name], [value, ...credentialSecrets(value)]);
  });
  return [...found, ...passwordsOf(text), ...addressSecrets(text)];
}

/** Of `user:password` in an address, only the password is secret. */
function afterColon(value: string): readonly string[] {
  const [, password = value] = /^[^/\s:@]*:([^\s]+)$/.exec(value) ?? [];
  return password === value
    ? [value, ...credentialSecrets(value)]
    : named(['password'], [password, percentDecoded(password)]);
}

/** The password of an address such as `postgres://ada:password@host`. */
function passwordsOf(value: string): readonly string[] {
  const password = passwordOf(value);
  return password === '' ? [] : named(['password'], [password, percentDecoded(password)]);
}

function passwordOf(value: string): string {
  return parseUrl(value)?.password ?? '';
}

/** The parameters and the parts of the path of an address among other text. */
function addressSecrets(text: string): readonly string[] {
  const addresses = text.match(/\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'`<>]+/gi) ?? [];
  return addresses.flatMap((address) => [...parameterSecrets(address), ...pathSecrets(address)]);
}

/** `Bearer TOKEN` hides the token alone as well, and `Basic PAIR` the password in it (RFC 7617). */
function credentialSecrets(value: string): readonly string[] {
  const [, scheme = '', token = ''] = /^(basic|bearer|token) +(\S+)$/i.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [token];
  const pair = Buffer.from(token, 'base64').toString();
  return [token, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** The credentials after a scheme, and the values of parameters and cookies. */
function headerSecrets(value: string): readonly string[] {
  const parts = value.split(/[\s;,]+/);
  const parameters = parts.map((part) => part.slice(part.indexOf('=') + 1).replaceAll('"', ''));
  return [value, ...parts.slice(1), ...parameters.filter(isLikely), ...credentialSecrets(value)];
}

/** The secrets of an address, encoded and decoded. */
function urlSecrets(text: string): readonly string[] {
  const url = parseUrl(text);
  if (url === undefined) return [];
  const { username, password, hash } = url;
  return [
    ...[username, password].flatMap((part) => [part, percentDecoded(part)]),
    ...parameterSecrets(text),
    ...pathSecrets(text),
    ...decodedToo(hash.slice(1)),
  ];
}

function parameterSecrets(text: string): readonly string[] {
  const url = parseUrl(text);
  if (url === undefined) return [];
  const { search, searchParams } = url;
  const pairs = search
    .slice(1)
    .split('&')
    .map((pair) => /^([^=]*)=?(.*)$/s.exec(pair) ?? []);
  return [...pairs.map(([, name = '', value = '']) => [name, value] as const), ...searchParams].flatMap(
    ([name, value]) => named([name], [value]),
  );
}

/** The parts of its path that look random. */
function pathSecrets(text: string): readonly string[] {
  return parseUrl(text)?.pathname.split('/').flatMap(decodedToo) ?? [];
}

function decodedToo(part: string): readonly string[] {
  return named([], [part, percentDecoded(part)]);
}

/** A value as an address encodes it (WHATWG URL), and as the server decodes that. */
function asInAddress(value: string): readonly string[] {
  const parts = value.replaceAll('\\', '/').split(/[?#]/);
  return [percentDecoded(value), ...parts, ...parts.map(percentDecoded)];
}

export const NO_MASK: Mask = (text) => text;

/** Replaces every known secret in any spelling, the longest first. */
export function createMask(secrets: Iterable<string>): Mask {
  const known = [...new Set(secrets)].toSorted((a, b) => b.length - a.length);
  if (known.length === 0) return NO_MASK;
  const long = known.filter(isLikely);
  const spelled = [...known.flatMap(spellings), ...long.flatMap(base64Spellings)];
  const cut = long.map((secret) => cutSpelling(secret, MIN_LIKELY_SECRET));
  return (text) => {
    const whole = strike(text, spelled);
    return text.length < MIN_CUT_TEXT ? whole : strikeTogether(whole, cut);
  };
}

/** All of them in the same text: the end of one secret may look like the beginning of another. */
function strikeTogether(text: string, secrets: readonly RegExp[]): string {
  const found = secrets.flatMap((secret) =>
    [...text.matchAll(secret)].map(({ index, 0: match }) => ({
      name: undefined,
      start: index,
      end: index + match.length,
    })),
  );
  return masked(text, found);
}

function strike(text: string, secrets: readonly (string | RegExp)[]): string {
  return secrets.reduce<string>((masked, secret) => masked.replaceAll(secret, MASK), text);
}

/** An entry for people: without the values of `maskConfig`, and without what is secret in its other fields. */
export function shownConfig(config: ServerConfig): Readonly<Record<string, unknown>> {
  return maskJson(maskConfig(config), createMask(secretsOf(config, config)));
}

/** The same failure with its texts masked; its code, phase and numbers are Troupe's own and stay. */
export function maskFailure<T extends RawFailure>(failure: T, mask: Mask): T {
  const { message, hint, url, stderrTail, stdoutTail, http } = failure;
  return {
    ...failure,
    message: mask(message),
    ...(hint === undefined ? {} : { hint: mask(hint) }),
    ...(url === undefined ? {} : { url: mask(url) }),
    ...(stderrTail === undefined ? {} : { stderrTail: stderrTail.map(mask) }),
    ...(stdoutTail === undefined ? {} : { stdoutTail: stdoutTail.map(mask) }),
    ...(http === undefined ? {} : { http: maskFields(http, mask) }),
  };
}

/** Masks the values of an object whose field names are Troupe's own. */
function maskFields<T extends object>(value: T, mask: Mask): T {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, maskJson<unknown>(item, mask)]),
  ) as T;
}

/**
 * The same JSON with every string masked, names of fields included, except those to keep. Leaves out everything deeper
 * than `levels`, so that neither this function nor a later one overflows the stack.
 */
export function maskJson<T>(
  value: T,
  mask: Mask,
  kept: ReadonlySet<string> = NO_NAMES,
  levels = MAX_LEVELS,
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
const MAX_LEVELS = 100;
const TOO_DEEP = '[nested too deeply]';
