/**
 * Parses the answers to `initialize` and `server/discover`: the identity of the server, and whether its protocol version
 * is one that this client knows.
 */
import type { Implementation, ServerCapabilities } from '../mcp/session.js';
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import { NEW_VERSION } from '../../machines/policy/protocol-era.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { cutText } from '../text/visible-text.js';
import { UNSUPPORTED_PROTOCOL_VERSION } from '../transports/json-rpc.js';
import { ProtocolFailure, type RpcError } from './protocol-client.js';

export const LATEST_PROTOCOL_VERSION = '2025-11-25';

/** The names in `_meta` that MCP defines begin so (MCP 2026-07-28, "General fields"). */
export const META_PREFIX = 'io.modelcontextprotocol/';

/** Versions with a session. */
export const KNOWN_VERSIONS: readonly string[] = [
  LATEST_PROTOCOL_VERSION,
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/** Throws a `ProtocolFailure` if the answer is not valid, or if its protocol version is unknown. */
export function parseInitializeResult(value: JsonObject): ServerIdentity {
  const { protocolVersion: spoken } = value;
  if (typeof spoken === 'string' && !KNOWN_VERSIONS.includes(spoken)) {
    throw unknownVersion(`The server speaks protocol version ${cutText(spoken, 40)}`, [spoken]);
  }
  const read = readResult<InitializeResult>(initializeResult, value, 'initialize');
  const { protocolVersion } = read;
  return {
    info: read.serverInfo,
    capabilities: read.capabilities,
    protocolVersion,
    instructions: read.instructions ?? null,
  };
}

/** The failure if an error answer to the first request is about the protocol version; otherwise undefined. */
export function versionRefusal({ rpcCode, message, data }: RpcError): ProtocolFailure | undefined {
  const supported = isJsonObject(data) ? [data['supported'], data['supportedVersions']].flat() : [];
  const versions = supported.filter(
    (each): each is string => typeof each === 'string' && /^\d{4}-\d{2}-\d{2}/.test(each),
  );
  const isAboutVersion = rpcCode === UNSUPPORTED_PROTOCOL_VERSION || /protocol[ _-]?version/i.test(message);
  if (versions.length === 0 && !isAboutVersion) return undefined;
  const known = versions.length === 0 ? '' : ` (it knows ${cutText(versions.join(', '), 200)})`;
  return unknownVersion(
    `The server refuses the protocol version${known}: ${cutText(message, 200)}`,
    versions,
  );
}

/** The failure for a server that speaks none of our versions. `versions`: those that it named. */
export function unknownVersion(what: string, versions: readonly string[]): ProtocolFailure {
  const failure = {
    code: 'protocol-version',
    message: `${what}; this client knows ${[NEW_VERSION, ...KNOWN_VERSIONS].join(', ')}.`,
    hint: "Use a version of the server that speaks one of these, and see 'protocol' in the entry.",
  } as const;
  return new ProtocolFailure(failure, versions);
}

/** Reads a value of one kind; throws if it is of another. `at` is its path. */
type Reader = (value: unknown, at: string) => unknown;

class Misfit extends Error {}

function only(is: (value: unknown) => boolean): Reader {
  return (value, at) => {
    if (!is(value)) throw new Misfit(at);
    return value;
  };
}

/** Keeps known fields and drops the others, which are never read. */
function fields(known: Readonly<Record<string, Reader>>, required: readonly string[] = []): Reader {
  return (value, at) => {
    if (!isJsonObject(value)) throw new Misfit(at);
    const read: Record<string, unknown> = {};
    for (const [name, reader] of Object.entries(known)) {
      const found = value[name];
      if (found !== undefined || required.includes(name)) {
        read[name] = reader(found, at === '' ? name : `${at}.${name}`);
      }
    }
    return read;
  };
}

function listOf(reader: Reader): Reader {
  return (value, at) => {
    if (!Array.isArray(value)) throw new Misfit(at);
    return value.map((item) => reader(item, at));
  };
}

const text = only((value) => typeof value === 'string');
const flag = only((value) => typeof value === 'boolean');
/** A list counts as well: some servers send an empty list instead of an empty object. */
const isAnyObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const anyObject = only(isAnyObject);
const objects = only((value) => isJsonObject(value) && Object.values(value).every(isAnyObject));
const theme = only((value) => value === 'light' || value === 'dark');
const icon = fields({ src: text, mimeType: text, sizes: listOf(text), theme }, ['src']);

/** MCP specification 2025-11-25, schema: `Implementation`. */
const implementation = fields(
  {
    name: text,
    title: text,
    version: text,
    description: text,
    websiteUrl: text,
    icons: listOf(icon),
  },
  ['name', 'version'],
);

/** MCP specification 2025-11-25, schema: `ServerCapabilities`. */
const capabilities = fields({
  experimental: objects,
  logging: anyObject,
  completions: anyObject,
  prompts: fields({ listChanged: flag }),
  resources: fields({ subscribe: flag, listChanged: flag }),
  tools: fields({ listChanged: flag }),
  tasks: anyObject,
  extensions: objects,
});

const initializeResult = fields(
  { protocolVersion: text, capabilities, serverInfo: implementation, instructions: text },
  ['protocolVersion', 'capabilities', 'serverInfo'],
);

/** MCP specification 2026-07-28, schema: `DiscoverResult`. The name of the server is in `_meta`, and may be absent. */
const discoverResult = fields({ supportedVersions: listOf(text), capabilities, instructions: text }, [
  'supportedVersions',
  'capabilities',
]);

interface InitializeResult {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions?: string;
}

interface DiscoverResult {
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string;
}

function readResult<T>(reader: Reader, value: JsonObject, method: string): T {
  try {
    return reader(value, '') as T;
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw new ProtocolFailure({
      code: 'protocol-error',
      message: `The answer to ${method} is not valid: ${error.message} is wrong.`,
    });
  }
}

/** Servers may leave out their name. */
const ANONYMOUS: Implementation = { name: 'unnamed', version: 'unknown' };

/** The name of a server of the new era: in `_meta`, or where some servers put it. */
function infoOf({ _meta: meta, serverInfo }: JsonObject): Implementation {
  const given = isJsonObject(meta) ? (meta[`${META_PREFIX}serverInfo`] ?? serverInfo) : serverInfo;
  try {
    return implementation(given, '') as Implementation;
  } catch {
    return ANONYMOUS;
  }
}

/** Throws a `ProtocolFailure` if it is not the answer to `server/discover`, or if our version is not among those it names. */
export function parseDiscoverResult(value: JsonObject): ServerIdentity {
  const read = readResult<DiscoverResult>(discoverResult, value, 'server/discover');
  const { supportedVersions, capabilities: declared, instructions } = read;
  if (!supportedVersions.includes(NEW_VERSION)) {
    const named = supportedVersions.length === 0 ? 'no version' : cutText(supportedVersions.join(', '), 200);
    throw unknownVersion(`The server names ${named}`, supportedVersions);
  }
  return {
    info: infoOf(value),
    capabilities: declared,
    protocolVersion: NEW_VERSION,
    instructions: instructions ?? null,
  };
}
