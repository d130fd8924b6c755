/**
 * The hosts whose entries are nearly those of `.mcp.json`: Claude, the editors, Cline and Gemini CLI. Their additional
 * fields are adopted if they mean the same here, and reported if the server would behave differently without them.
 * Other fields stay, so that typing mistakes are found.
 */
import type { RawEntry } from '../entry/spelling.js';
import { isObject } from '../entry/read-shape.js';
import { fromSeconds, isAbsent, toolLists, translate, type Translate } from './translation.js';

const MISSED = new Set(['envFile', 'headersHelper', 'sandbox', 'sandboxEnabled']);
const reports = (field: string): boolean => MISSED.has(field);

/** Their lists of tools, under names that mean nothing else. */
const TOOL_LISTS = [
  ['includeTools', 'excludeTools'],
  ['enabledTools', 'disabledTools'],
] as const;

export const translatePlain: Translate = (entry) => translate(entry, anyLists(entry));

/** Variables may be numbers there, and null removes one. */
export const translateVsCode: Translate = (entry) => {
  const { made, ...rules } = anyLists(entry);
  return translate(entry, { ...rules, made: { ...made, env: [asTexts(entry['env'] ?? undefined), 'env'] } });
};

export const translateWindsurf: Translate = (entry) => translate(entry, { ...denied(entry), reports });

/** Its `timeout` is the limit of a request, in seconds. */
export const translateCline: Translate = (entry) => {
  const { made, ...lists } = denied(entry);
  const callTimeoutMs = [fromSeconds(entry['timeout'] ?? undefined), 'timeout'] as const;
  return translate(entry, { made: { ...made, callTimeoutMs }, ...lists, reports });
};

/** Its `timeout` is the limit of a request, in milliseconds. */
export const translateGemini: Translate = (entry) => {
  const { made, ...lists } = toolLists(entry, 'includeTools', 'excludeTools');
  const callTimeoutMs = [entry['timeout'] ?? undefined, 'timeout'] as const;
  return translate(entry, { made: { ...made, callTimeoutMs }, ...lists, reports });
};

function asTexts(env: unknown): unknown {
  if (!isObject(env)) return env;
  const present = Object.entries(env).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}

/** Lists of tools are never lost, whichever host wrote them. A second list beside the first is reported. */
function anyLists(entry: RawEntry) {
  const isReported = (field: string): boolean =>
    reports(field) || TOOL_LISTS.flat().some((name) => name === field);
  const isWritten = (names: readonly string[]): boolean => names.some((name) => !isAbsent(entry[name]));
  const lists = isAbsent(entry['tools']) ? TOOL_LISTS.find(isWritten) : undefined;
  return { ...(lists && toolLists(entry, lists[0], lists[1])), reports: isReported };
}

function denied(entry: RawEntry) {
  return toolLists(entry, 'enabledTools', 'disabledTools');
}
