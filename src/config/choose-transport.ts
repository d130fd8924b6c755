/**
 * How an entry's server is reached: by its `type`, else by the field that is there.
 */
import { writtenAs, type RawEntry } from './entry-fields.js';
import { isObject, type Report } from './read-shape.js';
import { TRANSPORT_TYPES } from './schema.js';

export type EntryTransport = 'stdio' | 'http';

const STDIO_FIELDS = ['command', 'args', 'cwd', 'inheritEnv'];
const HTTP_FIELDS = ['url', 'headers'];

/** Undefined, and reported, where the entry says nothing or contradicts itself. */
export function chooseTransport(entry: RawEntry, report: Report): EntryTransport | undefined {
  const type = writtenAs(entry, 'type');
  return type === undefined ? byFields(entry, report) : byType(entry, type, report);
}

/** Warns of fields that a server of this transport has no use for. */
export function reportIdleFields(entry: RawEntry, transport: EntryTransport, report: Report): void {
  const kind = transport === 'stdio' ? 'a stdio server' : 'a server reached over HTTP';
  for (const field of transport === 'stdio' ? HTTP_FIELDS : STDIO_FIELDS) {
    const written = writtenAs(entry, field);
    if (written === undefined || isEmptyCollection(entry[written])) continue;
    report([written], `is ignored: it has no meaning for ${kind}`, 'warning');
  }
}

export function isEmptyCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function byFields(entry: RawEntry, report: Report): EntryTransport | undefined {
  const command = writtenAs(entry, 'command');
  const url = writtenAs(entry, 'url');
  if (command !== undefined && url !== undefined) {
    report([url], `stands beside 'command'; keep either 'command' or '${url}', or say which by 'type'`);
    return undefined;
  }
  if (command !== undefined) return 'stdio';
  if (url !== undefined) return 'http';
  const advice = holdsEntries(entry) ? '; what it holds are servers: give those in its place' : '';
  report([], `needs 'command' (a program to start) or 'url' (an address to connect to)${advice}`);
  return undefined;
}

/** A whole file was given for its servers, or one collection within another. */
function holdsEntries(entry: RawEntry): boolean {
  const values = Object.values(entry);
  const isEntry = (value: unknown): boolean =>
    isObject(value) && (writtenAs(value, 'command') ?? writtenAs(value, 'url')) !== undefined;
  return values.length > 0 && values.every(isEntry);
}

function byType(entry: RawEntry, typeField: string, report: Report): EntryTransport | undefined {
  const type = entry[typeField];
  if (!isTransportType(type)) return undefined;
  const transport = TRANSPORT_TYPES[type] === 'stdio' ? 'stdio' : 'http';
  const [needed, unneeded] = transport === 'stdio' ? ['command', 'url'] : ['url', 'command'];
  if (writtenAs(entry, needed) !== undefined) return transport;
  const other = writtenAs(entry, unneeded);
  const instead = other === undefined ? '' : `, but the entry has '${other}'`;
  report([typeField], `'${type}' needs '${needed}'${instead}`);
  return undefined;
}

/** An unknown word is reported by the schema. */
function isTransportType(type: unknown): type is keyof typeof TRANSPORT_TYPES {
  return typeof type === 'string' && Object.hasOwn(TRANSPORT_TYPES, type);
}
