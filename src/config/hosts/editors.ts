/**
 * The hosts whose entries are nearly those of `.mcp.json`: Claude, the editors, Cline and Gemini CLI. Their additional
 * fields are adopted if they mean the same here. Other fields are kept: the validation reports the unknown ones.
 */
import { delimiter } from 'node:path';
import type { RawEntry } from '../entry/spelling.js';
import { isObject } from '../entry/read-shape.js';
import {
  fromSeconds,
  isAbsent,
  reference,
  toolLists,
  translate,
  type Translate,
  foreign,
  joined,
  type Translation,
} from './translation.js';

const reports = (): boolean => false;

/** Their lists of tools, under names that mean nothing else. */
const TOOL_LISTS = [
  ['includeTools', 'excludeTools'],
  ['enabledTools', 'disabledTools'],
] as const;

export const translatePlain: Translate = (entry) => translate(entry, anyLists(entry));

/** In Claude Code, `timeout` is the limit for a call in milliseconds; a value below a second is ignored. */
export const translateClaudeCode: Translate = (entry) => {
  const { timeout } = entry;
  const { made, ...rules } = anyLists(entry);
  const isLimit = typeof timeout === 'number' && timeout >= 1_000;
  return translate(entry, {
    ...rules,
    made: { ...made, ...(isLimit && { callTimeoutMs: [timeout, 'timeout'] }) },
  });
};

/** In VS Code, a variable can be a number, `null` removes it, and `PATH` is appended to the host's `PATH`. */
export const translateVsCode: Translate = (entry) => {
  const { made, ...rules } = anyLists(entry);
  return translate(entry, {
    ...rules,
    made: { ...made, env: [vsCodeEnv(entry['env'] ?? undefined), 'env'] },
  });
};

export const translateWindsurf: Translate = (entry) => translate(entry, { ...denied(entry), reports });

/** Its `timeout` is the limit of a request, in seconds. */
export const translateCline: Translate = (entry) => {
  const { made, ...lists } = denied(entry);
  const callTimeoutMs = [fromSeconds(entry['timeout'] ?? undefined), 'timeout'] as const;
  return translate(entry, { made: { ...made, callTimeoutMs }, ...lists, reports });
};

/** In Gemini CLI, `timeout` is the limit for a request in milliseconds. `$NAME` is a variable in every field, or text if it is unset. */
export const translateGemini: Translate = (entry) => {
  const { made, ...lists } = toolLists(entry, 'includeTools', 'excludeTools');
  const callTimeoutMs = [entry['timeout'] ?? undefined, 'timeout'] as const;
  const braced = Object.fromEntries(
    Object.entries(entry).map(([field, value]) => [field, IN_BRACES.has(field) ? inBraces(value) : value]),
  );
  return translate(braced, { made: { ...made, callTimeoutMs }, ...lists, reports });
};

/** The fields in which Troupe reads `$NAME` as text. */
const IN_BRACES = new Set(['url', 'httpUrl', 'headers', 'env', 'oauth']);

function inBraces(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\$([A-Za-z_]\w*)/g, '${$1:-$$$1}');
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inBraces(item)]));
}

function vsCodeEnv(env: unknown): unknown {
  if (!isObject(env)) return env;
  const present = Object.entries(env).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => {
      const text = typeof value === 'number' ? String(value) : value;
      return [name, name.toUpperCase() === 'PATH' && typeof text === 'string' ? appended(name, text) : text];
    }),
  );
}

function appended(name: string, folders: string): string {
  return `${reference(name)}${delimiter}${folders}`;
}

/** Lists of tools are never lost, whichever host wrote them. A second list beside the first is reported. */
function anyLists(entry: RawEntry) {
  const isReported = (field: string): boolean => TOOL_LISTS.flat().some((name) => name === field);
  const isWritten = (names: readonly string[]): boolean => names.some((name) => !isAbsent(entry[name]));
  const lists = isAbsent(entry['tools']) ? TOOL_LISTS.find(isWritten) : undefined;
  return { ...(lists && toolLists(entry, lists[0], lists[1])), reports: isReported };
}

function denied(entry: RawEntry) {
  return toolLists(entry, 'enabledTools', 'disabledTools');
}

// Zed: `context_servers` of `settings.json`; in older versions the command may be an object.

export const translateZed: Translate = (entry) => {
  const { command, url, source } = entry;
  if (isAbsent(command) && isAbsent(url) && (source === 'extension' || isObject(entry['settings']))) {
    return foreign('it belongs to an extension of Zed');
  }
  if (!isObject(command)) return translate(entry, { known: KNOWN });
  return fromObject({ ...entry, command });
};

const KNOWN = ['remote', 'settings', 'source'];

function fromObject(entry: Readonly<Record<string, unknown>> & { readonly command: object }): Translation {
  const { path, args, env } = entry.command as Readonly<Record<string, unknown>>;
  return translate(entry, {
    made: {
      command: [path, 'command', 'path'],
      args: [args ?? undefined, 'command', 'args'],
      env: [joined(entry['env'], env), 'command', 'env'],
    },
    known: [...KNOWN, 'args', 'env'],
  });
}
