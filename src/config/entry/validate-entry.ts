/**
 * Turns an entry into a `ServerConfig`, or reports what is wrong with it. Entries of files and of the host's `servers`
 * are treated alike.
 *
 * V1. Pure and total: any value of any type gives a result; nothing is expanded, looked up or started.
 * V2. No problem holds a value of env, headers, url or arguments.
 * V3. A refused entry affects no other entry.
 */
import type { ConfigProblem } from '../../errors.js';
import type { ServerConfig, InProcessServerConfig } from './server-config.js';
import {
  ENTRY_SCHEMA,
  SETTINGS_SCHEMA,
  type EntryFields,
  FIELD_ROWS,
  TRANSPORT_TYPES,
  type EntryTransport,
} from './entry-fields.js';
import { isForwardable } from './forwardable-header.js';
import { mapTexts, headerValueProblem, urlProblem, type TextProblem } from './entry-texts.js';
import {
  toNormalForm,
  loosened,
  reportDoubles,
  reportUnknown,
  resolveAliases,
  writtenAs,
  type RawEntry,
} from './spelling.js';
import { fieldName, isError, printable, type Path, type Position } from './problem.js';
import { isObject, kindOf, readShape, type Report, isEmptyCollection } from './read-shape.js';
import { withOAuthBlock } from './oauth-block.js';
import { nameProblems } from './server-name.js';
import { parseTemplate, type Part } from './template.js';

/** The place of an entry: the name of its source and, for a text, how to locate a field. */
export interface EntryLocation {
  readonly source: string;
  readonly locate?: (path: Path) => Position;
  /**
   * The path of a field as it is written there, for an entry that was translated from another host's form. Default: the
   * same path.
   */
  readonly asWritten?: (path: Path) => Path;
}

export interface ValidatedEntry {
  /** Undefined if the entry is refused. */
  readonly config: ServerConfig | undefined;
  readonly problems: readonly ConfigProblem[];
}

export function validateEntry(name: string, value: unknown, place: EntryLocation): ValidatedEntry {
  const problems: ConfigProblem[] = [];
  const report: Report = (field, code, message, severity) => {
    const path = place.asWritten?.(field) ?? field;
    problems.push({
      code,
      ...(severity !== undefined && { severity }),
      source: place.source,
      server: printable(name),
      ...(path.length > 0 && { field: fieldName(path) }),
      ...place.locate?.(path),
      message,
    });
  };
  const isRefused = () => problems.some(isError);
  for (const problem of nameProblems(name)) report([], 'invalid-name', problem);
  const config = readEntry(value, report, isRefused);
  return { config: isRefused() ? undefined : config, problems };
}

function readEntry(entry: unknown, report: Report, isRefused: () => boolean): ServerConfig | undefined {
  if (!isObject(entry)) {
    report([], 'wrong-type', `expected ${ENTRY_SCHEMA.title}, found ${kindOf(entry)}`);
    return undefined;
  }
  if (canConnect(entry)) return readInProcess({ server: entry }, report);
  if (entry['type'] === 'in-process' || canConnect(entry['server'])) return readInProcess(entry, report);
  if (!holdsEntries(entry)) reportUnknown(entry, report);
  reportDoubles(entry, report);
  const clear = loosened(withOAuthBlock(entry, report), ENTRY_SCHEMA, [], report);
  const read = readShape(clear, ENTRY_SCHEMA, [], report);
  const transport = chooseTransport(entry, report);
  if (transport === undefined) return undefined;
  reportIdleFields(entry, transport, report);
  if (isRefused()) return undefined;
  const fields = resolveAliases(inMilliseconds(read as RawEntry, report)) as EntryFields;
  checkSettings(fields, report);
  checkProxy(fields, report);
  checkForwarded(fields, report);
  checkOnly(fields, report);
  const config = toNormalForm(fields, transport) as unknown as ServerConfig;
  checkTexts(config, entry, report);
  return config;
}

function readInProcess(entry: RawEntry, report: Report): InProcessServerConfig | undefined {
  const { server } = entry;
  if (!canConnect(server)) {
    report(
      ['server'],
      'needs-server-object',
      "type 'in-process' needs an object with connect(transport), which only code can give",
    );
    return undefined;
  }
  // Only this host has written the entry, so a field that it does not know is a mistake.
  const strictly: Report = (path, code, message, severity) =>
    report(path, code, message, code === 'unknown-field' ? undefined : severity);
  const { type: _, server: __, ...settings } = entry;
  const clear = loosened(settings, SETTINGS_SCHEMA, [], strictly);
  const fields = readShape(clear, SETTINGS_SCHEMA, [], strictly) as EntryFields;
  checkSettings(fields, report);
  return { type: 'in-process', server, ...toNormalForm(fields, 'in-process') };
}

/** Also an entry that is nothing but the server itself. */
function canConnect(server: unknown): server is InProcessServerConfig['server'] {
  return isObject(server) && typeof server['connect'] === 'function';
}

function checkSettings({ enabled, disabled }: EntryFields, report: Report): void {
  if (enabled !== undefined && enabled === disabled) {
    report(['disabled'], 'conflicting-fields', "contradicts 'enabled'; keep one of them");
  }
}

function checkProxy({ proxy }: EntryFields, report: Report): void {
  if (proxy === true) report(['proxy'], 'wrong-type', 'expected an address or false, found true');
}

function checkForwarded({ forwardHeaders = [] }: EntryFields, report: Report): void {
  for (const [index, name] of forwardHeaders.entries())
    if (!isForwardable(name))
      report(
        ['forwardHeaders', index],
        'header-not-forwardable',
        `'${name}' is not passed on: it belongs to the connection or the credentials of the client`,
      );
}

function checkOnly({ only, isolation }: EntryFields, report: Report): void {
  if (only !== undefined && isolation === 'per-session')
    report(
      ['isolation'],
      'conflicting-fields',
      "contradicts 'only': a server that runs once has one connection",
    );
}

/** A smaller `timeout` is in seconds, because nobody limits a server to less than a second. */
const LEAST_MS = 1_000;

/**
 * Other hosts use the name `timeout` without a unit, and most of them use it for calls. It therefore limits calls as
 * well, unless the entry has its own limit for them.
 */
function inMilliseconds({ timeout, ...fields }: RawEntry, report: Report): RawEntry {
  if (typeof timeout !== 'number') return fields;
  const isSeconds = timeout > 0 && timeout < LEAST_MS;
  if (isSeconds) {
    const message = `is read as seconds, because it is below ${LEAST_MS}; write 'startTimeoutMs' and 'callTimeoutMs' in milliseconds`;
    report(['timeout'], 'timeout-in-seconds', message, 'warning');
  }
  const ms = isSeconds ? timeout * 1_000 : timeout;
  return { callTimeoutMs: ms, startTimeoutMs: ms, ...fields };
}

/** Texts without a variable must be valid already. */
function checkTexts(config: ServerConfig, entry: RawEntry, report: Report): void {
  mapTexts(config, (text, { path, syntax }) => {
    const parts = parseTemplate(text, syntax);
    const problem = literalProblem(path, parts);
    const [field, ...rest] = path;
    const place = [writtenAs(entry, String(field)) ?? String(field), ...rest];
    if (problem !== undefined) report(place, problem.code, problem.message);
    if (field === 'env') reportBareName(text, place, report);
    const [, kind] = (syntax === 'code' ? null : FOREIGN.exec(text)) ?? [];
    if (kind !== undefined)
      report(place, 'unexpanded-variable', `\${${kind}:…} is passed on as it is written`, 'warning');
    return text;
  });
}

/** References that other hosts replace. */
const FOREIGN = /(?<!\$)\$\{(command|config|file|workspaceFolder):[^}\s-]/;

/** Variables that people write as in a shell, although they are not replaced in `env`. */
const BARE_NAME = /(?<!\$)\$(HOME|PATH|PWD|TMPDIR|USER)(?![A-Za-z0-9_])/;

function reportBareName(text: string, place: Path, report: Report): void {
  const [, name] = BARE_NAME.exec(text) ?? [];
  if (name !== undefined)
    report(
      place,
      'unexpanded-variable',
      `$${name} is passed on as it is written; \${${name}} is replaced`,
      'warning',
    );
}

function literalProblem(path: Path, parts: readonly Part[]): TextProblem | undefined {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  if (texts.length < parts.length) return undefined;
  if (path[0] === 'url') return urlProblem(texts.join(''));
  return path[0] === 'headers' ? headerValueProblem(texts.join('')) : undefined;
}

/**
 * The transport by the entry's `type`, else by its fields. Undefined, with a report, if the entry says nothing or
 * contradicts itself.
 */
function chooseTransport(entry: RawEntry, report: Report): WrittenTransport | undefined {
  const type = writtenAs(entry, 'type');
  return type === undefined ? byFields(entry, report) : byType(entry, type, report);
}

/** Fields that are an error, and not only a warning, on the wrong transport: the server relies on what they send. */
const MUST_APPLY: ReadonlySet<string> = new Set(['forwardHeaders', 'only']);

type WrittenTransport = Exclude<EntryTransport, 'in-process'>;

const fieldsWithout = (transport: WrittenTransport): readonly string[] =>
  FIELD_ROWS.filter(([, { transports }]) => !transports.includes(transport)).map(([field]) => field);

const IDLE_FIELDS = { stdio: fieldsWithout('stdio'), http: fieldsWithout('http') };

/** Reports fields that do not apply to this transport. */
function reportIdleFields(entry: RawEntry, transport: WrittenTransport, report: Report): void {
  const kind = transport === 'stdio' ? 'a stdio server' : 'a server reached over HTTP';
  for (const field of IDLE_FIELDS[transport]) {
    const written = writtenAs(entry, field);
    if (written === undefined || isEmptyCollection(entry[written])) continue;
    if (MUST_APPLY.has(field)) report([written], 'inapplicable-field', `does not apply to ${kind}`);
    else report([written], 'inapplicable-field', `is ignored: it does not apply to ${kind}`, 'warning');
  }
}

function byFields(entry: RawEntry, report: Report): WrittenTransport | undefined {
  const command = writtenAs(entry, 'command');
  const url = writtenAs(entry, 'url');
  if (command !== undefined && url !== undefined) {
    report(
      [url],
      'conflicting-fields',
      `conflicts with 'command'; keep either 'command' or '${url}', or choose with 'type'`,
    );
    return undefined;
  }
  if (command !== undefined) return 'stdio';
  if (url !== undefined) return 'http';
  const advice = holdsEntries(entry) ? '; it contains servers: use those instead' : '';
  report(
    [],
    'missing-target',
    `needs 'command' (a program to start) or 'url' (an address to connect to)${advice}`,
  );
  return undefined;
}

/** Somebody gave a whole file as its servers, or nested one collection in another. */
function holdsEntries(entry: RawEntry): boolean {
  const values = Object.values(entry);
  const isEntry = (value: unknown): boolean =>
    isObject(value) && (writtenAs(value, 'command') ?? writtenAs(value, 'url')) !== undefined;
  return values.length > 0 && values.every(isEntry);
}

function byType(entry: RawEntry, typeField: string, report: Report): WrittenTransport | undefined {
  const type = entry[typeField];
  if (!isTransportType(type)) return undefined;
  const transport = TRANSPORT_TYPES[type] === 'stdio' ? 'stdio' : 'http';
  const [needed, unneeded] = transport === 'stdio' ? ['command', 'url'] : ['url', 'command'];
  if (writtenAs(entry, needed) !== undefined) return transport;
  const other = writtenAs(entry, unneeded);
  const instead = other === undefined ? '' : `, but the entry has '${other}'`;
  report([typeField], 'missing-target', `'${type}' needs '${needed}'${instead}`);
  return undefined;
}

/** The schema reports an unknown word. */
function isTransportType(type: unknown): type is keyof typeof TRANSPORT_TYPES {
  return typeof type === 'string' && Object.hasOwn(TRANSPORT_TYPES, type);
}
