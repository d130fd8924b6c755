/**
 * The log of a background process: its events as lines of JSON, in a file of bounded size. When it is full, it becomes
 * `FILE.1`, which replaces the previous one.
 *
 * L1. What is written is in the file when `write` returns, so a reader in the same process misses nothing. A log that cannot be
 *     written any more ends; the process goes on.
 */
import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseJson } from '../../json/parse-json.js';
import { isJsonObject } from '../../json/json-object.js';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import { makeFolder } from '../../storage/folders.js';

export type LogEvent = Extract<LifecycleEvent, { readonly type: 'server.log' }>;

const MAX_BYTES = 4 * 1_024 * 1_024;
/** Too many of them, and of no use without the others. */
const LEFT_OUT: ReadonlySet<LifecycleEvent['type']> = new Set([
  'connection.state',
  'call.started',
  'call.finished',
  'call.progress',
]);

/** The file descriptor for the log, for its user only. */
export function openLog(path: string): number {
  makeFolder(dirname(path));
  return openSync(path, 'a', 0o600);
}

export class BackgroundLog {
  #file: number | undefined;
  #bytes: number;

  constructor(
    private readonly path: string,
    private readonly maxBytes = MAX_BYTES,
  ) {
    this.#file = openLog(path);
    this.#bytes = fstatSync(this.#file).size;
  }

  write(event: LifecycleEvent): void {
    if (LEFT_OUT.has(event.type)) return;
    const line = Buffer.from(`${JSON.stringify(event)}\n`);
    try {
      if (this.#bytes + line.length > this.maxBytes) this.#turnOver();
      if (this.#file !== undefined) this.#bytes += writeSync(this.#file, line);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #turnOver(): void {
    if (this.#file === undefined) return;
    this.close();
    renameSync(this.path, `${this.path}.1`);
    this.#file = openLog(this.path);
    this.#bytes = 0;
  }
}

/** The events in the log, the oldest first; undefined if there is no log. Other lines, such as a stack trace, are skipped. */
export function readLogged(path: string): readonly LifecycleEvent[] | undefined {
  const texts = [`${path}.1`, path].map(textOf);
  if (texts.every((text) => text === undefined)) return undefined;
  return texts.flatMap((text = '') => text.split('\n').flatMap(eventOf));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function eventOf(line: string): LifecycleEvent | [] {
  try {
    const value = parseJson(line);
    const isEvent =
      isJsonObject(value) && typeof value['type'] === 'string' && typeof value['at'] === 'number';
    return isEvent ? (value as unknown as LifecycleEvent) : [];
  } catch {
    return [];
  }
}
