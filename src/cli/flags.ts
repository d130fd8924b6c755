/**
 * What the flags of the command line say, and how their values are read. Commander tells a wrong value together with
 * the flag it was given to.
 */
import { InvalidArgumentError } from 'commander';
import { toAddedServer, type AddedServer } from './added-server.js';
import { UsageError } from './usage-error.js';

/** The flags every command has. */
export interface Flags {
  readonly config: readonly string[];
  readonly add: readonly AddedServer[];
  readonly json: boolean;
  /** Milliseconds; undefined leaves it to the configuration. */
  readonly timeout?: number;
  readonly verbose: boolean;
  readonly color: boolean;
}

export const MACHINE_NAMES = ['connection', 'manager', 'review'] as const;
export type MachineName = (typeof MACHINE_NAMES)[number];

export const CHART_FORMATS = ['mermaid', 'scxml', 'json'] as const;
export type ChartFormat = (typeof CHART_FORMATS)[number];

/** The longest delay a timer of Node can hold. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
const MOST_ATTEMPTS = 1_000;
const MOST_MEGABYTES = 1_000_000;
const HIGHEST_PORT = 65_535;

/** What holds where a flag is not given. */
export const DEFAULT_FLAGS: Flags = { config: [], add: [], json: false, verbose: false, color: true };

export function collectFile(file: string, before: readonly string[] = []): readonly string[] {
  return [...before, toFile(file)];
}

export function toFile(file: string): string {
  if (file === '') throw new InvalidArgumentError('The name of the file is empty.');
  return file;
}

/** Throws a `UsageError`, which Commander passes on as it is: its own message would show the value. */
export function collectServer(text: string, before: readonly AddedServer[] = []): readonly AddedServer[] {
  const added = toAddedServer(text);
  if (before.some(({ name }) => name === added.name))
    throw new UsageError(`--add ${added.name}: given twice`);
  return [...before, added];
}

export function toUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError('Expected an address that begins with https:// or http://.');
}

export function collectUrl(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, toUrl(text)];
}

export function toMilliseconds(text: string): number {
  return wholeNumber(text, 0, LONGEST_TIMER_MS, 'milliseconds');
}

export function toMegabytes(text: string): number {
  return wholeNumber(text, 1, MOST_MEGABYTES, 'megabytes');
}

export function toPort(text: string): number {
  return wholeNumber(text, 0, HIGHEST_PORT);
}

/** The number of a process. */
export function toPid(text: string): number {
  return wholeNumber(text, 1, LONGEST_TIMER_MS);
}

export function toAttempts(text: string): number {
  return wholeNumber(text, 1, MOST_ATTEMPTS, 'attempts');
}

function wholeNumber(text: string, least: number, most: number, what?: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(
    `Expected a whole number${what === undefined ? '' : ` of ${what}`} from ${least} to ${most}.`,
  );
}
