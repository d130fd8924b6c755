/**
 * The flags of the command line, and how their values are read. Commander reports a wrong value together with its flag.
 */
import type { OfferMode } from '../../search/offer.js';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { escapeTemplate } from '../../config/entry/template.js';
import { UsageError } from '../exit.js';
import type { ServerConfig } from '../../config/entry/server-config.js';
import { parseUrl } from '../../text/parse-url.js';

/** The flags every command has. */
export interface Flags {
  readonly config: readonly string[];
  readonly add: readonly AddedServer[];
  /** Whether to look for further servers. Default: true without `config`, else false. */
  readonly discover?: boolean;
  readonly json: boolean;
  /** Milliseconds. Undefined leaves it to the configuration. */
  readonly timeout?: number;
  readonly verbose: boolean;
  readonly color: boolean;
  /** Whether a process of `up --background` may run the command. */
  readonly warm: boolean;
}

export const MACHINE_NAMES = ['connection', 'manager', 'configuration', 'signIn', 'lease', 'review'] as const;
export type MachineName = (typeof MACHINE_NAMES)[number];

export const CHART_FORMATS = ['mermaid', 'scxml', 'json'] as const;
export type ChartFormat = (typeof CHART_FORMATS)[number];

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** The longest delay a timer of Node can hold. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_ATTEMPTS = 1_000;
const MAX_MEGABYTES = 1_000_000;
const HIGHEST_PORT = 65_535;

/** The values of flags that are not given. */
export const DEFAULT_FLAGS: Flags = {
  config: [],
  add: [],
  json: false,
  verbose: false,
  color: true,
  warm: true,
};

export function collectFile(file: string, before: readonly string[] = []): readonly string[] {
  return [...before, toFile(file)];
}

export function toFile(file: string): string {
  if (file === '') throw new InvalidArgumentError('The name of the file is empty.');
  return file;
}

/** Throws a `UsageError`, which Commander passes on unchanged: its own message would show the value. */
export function collectServer(text: string, before: readonly AddedServer[] = []): readonly AddedServer[] {
  const added = toAddedServer(text);
  if (before.some(({ name }) => name === added.name))
    throw new UsageError(`--add ${added.name}: given twice`);
  return [...before, added];
}

export function toUrl(text: string): string {
  if (/^https?:/.test(text) && parseUrl(text) !== undefined) return text;
  throw new InvalidArgumentError('Expected an address that begins with https:// or http://.');
}

export function collectUrl(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, toUrl(text)];
}

/** `null` is the origin of local files and of sandboxed pages. */
export function collectOrigin(text: string, before: readonly string[] = []): readonly string[] {
  if (text === 'null' || /^[a-z][a-z0-9+.-]*:\/\/[^/]+\/?$/i.test(text)) return [...before, text];
  throw new InvalidArgumentError('Expected an origin such as https://example.com.');
}

export function collectHost(text: string, before: readonly string[] = []): readonly string[] {
  if (/^[^\s/]+$/.test(text)) return [...before, text];
  throw new InvalidArgumentError('Expected a host name such as mcp.example.com.');
}

/** `before` is false after `--no-token`. */
export function toToken(text: string, before?: string | false): string {
  if (before === false) throw new UsageError(ONE_OF_TOKENS);
  return text;
}

/** The value of `--no-token`. */
export function toNoToken(_: string, before?: string | false): false {
  if (typeof before === 'string') throw new UsageError(ONE_OF_TOKENS);
  return false;
}

const ONE_OF_TOKENS = 'Give either --token or --no-token.';

export function toMilliseconds(text: string): number {
  return wholeNumber(text, 0, MAX_TIMER_MS, 'milliseconds');
}

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Such as `15m`; seconds without a unit. In milliseconds. */
export function toDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d+)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (ms <= MAX_TIMER_MS) return ms;
  throw new InvalidArgumentError('Expected a duration such as 90s, 15m or 2h, up to 596h.');
}

export function toMegabytes(text: string): number {
  return wholeNumber(text, 1, MAX_MEGABYTES, 'megabytes');
}

export const OFFER_MODES = ['all', 'search', 'auto'] as const satisfies readonly OfferMode[];

/** Tokens of a model. */
export function toTokens(text: string): number {
  return wholeNumber(text, 0, MAX_TIMER_MS, 'tokens');
}

/** Names of servers. */
export function collectName(name: string, before: readonly string[] = []): readonly string[] {
  if (name === '') throw new InvalidArgumentError('The name is empty.');
  return [...before, name];
}

/** At least one. */
export function toLimit(text: string): number {
  return wholeNumber(text, 1, MAX_TIMER_MS);
}

/** How many. */
export function toCount(text: string): number {
  return wholeNumber(text, 0, MAX_TIMER_MS);
}

export function toPort(text: string): number {
  return wholeNumber(text, 0, HIGHEST_PORT);
}

/** A process id. */
export function toPid(text: string): number {
  return wholeNumber(text, 1, MAX_TIMER_MS);
}

export function toAttempts(text: string): number {
  return wholeNumber(text, 1, MAX_ATTEMPTS, 'attempts');
}

function wholeNumber(text: string, least: number, most: number, what?: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(
    `Expected a whole number${what === undefined ? '' : ` of ${what}`} from ${least} to ${most}.`,
  );
}

/** One `--add NAME=COMMAND-OR-URL`: a server named on the command line itself. */
interface AddedServer {
  readonly name: string;
  readonly config: ServerConfig;
}

/** Throws a `UsageError`. Its message never holds the value, which may be secret. */
export function toAddedServer(text: string): AddedServer {
  const at = text.indexOf('=');
  const name = at === -1 ? '' : text.slice(0, at).trim();
  const value = at === -1 ? '' : text.slice(at + 1).trim();
  if (name === '' || value === '') throw new UsageError('--add: expected NAME=COMMAND-OR-URL');
  if (isAddress(value)) return { name, config: { url: value } };
  const words = splitWords(value);
  if (words === undefined) throw new UsageError(`--add ${name}: a quote is not closed`);
  const [command = '', ...args] = words.map(fromHere);
  if (command === '') throw new UsageError(`--add ${name}: the command is empty`);
  return { name, config: { command, args } };
}

/** Whether it cannot be a command. Its scheme may still be wrong. */
export function isAddress(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text);
}

/** The program starts at home, so a path that begins with `.` or `..` is made absolute. */
function fromHere(word: string): string {
  return /^\.{1,2}(?=$|[/\\])/.test(word) ? join(escapeTemplate(process.cwd(), 'command-line'), word) : word;
}

/**
 * Splits a command line into words. Space separates words. Text in single or double quotes is taken as it is. A
 * backslash has no meaning, so that Windows paths stay whole. Undefined if a quote is not closed.
 */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const char of line) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
