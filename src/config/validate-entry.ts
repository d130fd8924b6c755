/**
 * Turns one entry, as somebody wrote it, into a `ServerConfig`, or says what is wrong with it.
 * Files and the host's own `servers` come through the same door.
 *
 * V1. Pure and total: any value of any type gives a result; nothing is expanded, looked up or started.
 * V2. No problem holds a value of env, headers, url or arguments.
 * V3. A refused entry is refused alone.
 */
import type { ConfigProblem } from '../errors.js';
import type { InProcessServerConfig, ServerConfig } from '../options.js';
import { chooseTransport, reportIdleFields } from './choose-transport.js';
import {
  reportDoubles,
  reportNearMisses,
  resolveAliases,
  writtenAs,
  type EntryFields,
  type RawEntry,
} from './entry-fields.js';
import { mapTexts } from './entry-texts.js';
import { headerValueProblem, urlProblem } from './http-fields.js';
import { toHttpConfig, toSettings, toStdioConfig } from './normal-form.js';
import { fieldName, isError, printable, UNPRINTABLE, type Path, type Position } from './problem.js';
import { isObject, kindOf, readShape, type Report } from './read-shape.js';
import { ENTRY_SCHEMA, SETTINGS_SCHEMA } from './schema.js';
import { parseTemplate, type Part } from './template.js';

/** Where an entry stands: the name of its source and, for a text, how to find the place of a field. */
export interface EntryPlace {
  readonly source: string;
  readonly locate?: (path: Path) => Position;
  /** How the path to a field is written there, for an entry that was put into Troupe's words. Default: as it is. */
  readonly asWritten?: (path: Path) => Path;
}

export interface ValidatedEntry {
  /** Undefined where the entry is refused. */
  readonly config: ServerConfig | undefined;
  readonly problems: readonly ConfigProblem[];
}

const LONGEST_NAME = 128;
/** Names that look the same would be taken for each other. The two that join letters or pictures change what is seen. */
const UNSEEN = /(?![\u200c\u200d])\p{Cf}/u;

export function validateEntry(name: string, value: unknown, place: EntryPlace): ValidatedEntry {
  const problems: ConfigProblem[] = [];
  const report: Report = (field, message, severity) => {
    const path = place.asWritten?.(field) ?? field;
    problems.push({
      ...(severity !== undefined && { severity }),
      source: place.source,
      server: printable(name),
      ...(path.length > 0 && { field: fieldName(path) }),
      ...place.locate?.(path),
      message,
    });
  };
  const isRefused = () => problems.some(isError);
  checkName(name, report);
  const config = readEntry(value, report, isRefused);
  return { config: isRefused() ? undefined : config, problems };
}

function checkName(name: string, report: Report): void {
  if (name === '') report([], 'the name of a server must not be empty');
  if (name.length > LONGEST_NAME) report([], `the name is longer than ${LONGEST_NAME} characters`);
  if (UNPRINTABLE.test(name)) report([], 'the name must not contain control characters');
  else if (UNSEEN.test(name)) report([], 'the name must not contain characters that cannot be seen');
  if (name.trim() !== name) report([], 'the name must not begin or end with a blank');
  if (name === '__proto__') report([], 'the server needs another name: objects of JavaScript cannot hold it');
}

function readEntry(entry: unknown, report: Report, isRefused: () => boolean): ServerConfig | undefined {
  if (!isObject(entry)) {
    report([], `expected ${ENTRY_SCHEMA.title}, found ${kindOf(entry)}`);
    return undefined;
  }
  if (entry['type'] === 'in-process' || canConnect(entry['server'])) return readInProcess(entry, report);
  reportNearMisses(entry, report);
  reportDoubles(entry, report);
  const read = readShape(entry, ENTRY_SCHEMA, [], report);
  const transport = chooseTransport(entry, report);
  if (transport === undefined) return undefined;
  reportIdleFields(entry, transport, report);
  if (isRefused()) return undefined;
  const fields = resolveAliases(read as RawEntry) as EntryFields;
  checkSettings(fields, report);
  const config = transport === 'stdio' ? toStdioConfig(fields) : toHttpConfig(fields);
  checkTexts(config, entry, report);
  return config;
}

function readInProcess(entry: RawEntry, report: Report): InProcessServerConfig | undefined {
  const { server } = entry;
  if (!canConnect(server)) {
    report(['server'], "type 'in-process' needs an object with connect(transport), which only code can give");
    return undefined;
  }
  const fields = readShape(entry, SETTINGS_SCHEMA, [], report) as EntryFields;
  checkSettings(fields, report);
  return { type: 'in-process', server, ...toSettings(fields) };
}

function canConnect(server: unknown): server is InProcessServerConfig['server'] {
  return isObject(server) && typeof server['connect'] === 'function';
}

function checkSettings({ enabled, disabled, timeout }: EntryFields, report: Report): void {
  if (enabled !== undefined && enabled === disabled) {
    report(['disabled'], "contradicts 'enabled'; keep one of them");
  }
  if (timeout !== undefined && timeout > 0 && timeout < 1_000) {
    report(['timeout'], 'is in milliseconds, and this is less than a second', 'warning');
  }
}

/** Templates must be readable, and what holds no variable must be right already. */
function checkTexts(config: ServerConfig, entry: RawEntry, report: Report): void {
  mapTexts(config, (text, { path, shellLike }) => {
    const template = parseTemplate(text, shellLike);
    const problem = 'problem' in template ? template.problem : literalProblem(path, template.parts);
    const [field, ...rest] = path;
    if (problem !== undefined) report([writtenAs(entry, String(field)) ?? String(field), ...rest], problem);
    return text;
  });
}

function literalProblem(path: Path, parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  if (texts.length < parts.length) return undefined;
  if (path[0] === 'url') return urlProblem(texts.join(''));
  return path[0] === 'headers' ? headerValueProblem(texts.join('')) : undefined;
}
