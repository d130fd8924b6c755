/**
 * The block of an entry that names a client for the sign-in, in the spellings of all hosts: `oauth` of Claude Code, VS
 * Code, Gemini CLI, opencode, Codex and Kiro, `auth` of Cursor. Pure.
 */
import type { EntryOAuth } from './server-config.js';
import { isObject, type Report } from './read-shape.js';
import type { RawEntry } from './spelling.js';

/** Other names, in camel case. */
const SYNONYMS: Readonly<Record<keyof EntryOAuth, readonly string[]>> = {
  clientId: [],
  clientSecret: [],
  scope: ['scopes'],
  account: [],
  callbackPort: ['redirectPort'],
  redirectUrl: ['redirectUri', 'callbackUrl', 'callbackUri'],
  metadataUrl: ['authServerMetadataUrl'],
  authorizationUrl: ['authorizationEndpoint'],
  tokenUrl: ['tokenEndpoint'],
};

/** Hosts differ in case and underscores: `clientID`, `client_id`, `CLIENT_ID`. */
const plain = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

const NAMES = new Map(
  Object.entries(SYNONYMS).flatMap(([name, others]) =>
    [name, ...others].map((spelling) => [plain(spelling), name]),
  ),
);

/** A redirect without its scheme, as Kiro writes it: host and port, or only the port, with the path of that host. */
const WITHOUT_SCHEME = /^(localhost|127\.0\.0\.1|\[::1\])?:(\d+)(\/.*)?$/i;
const DEFAULT_PATH = '/oauth/callback';

function wholeRedirect(written: unknown): unknown {
  if (typeof written !== 'string') return written;
  const [match, host = '127.0.0.1', port = '', path = DEFAULT_PATH] =
    WITHOUT_SCHEME.exec(written.trim()) ?? [];
  return match === undefined ? written : `http://${host}:${port}${path}`;
}

/** The entry with the block in Troupe's spelling. Reports the parts that have no meaning here. */
export function withOAuthBlock(entry: RawEntry, report: Report): RawEntry {
  const field = ['oauth', 'auth'].find((name) => entry[name] !== undefined && entry[name] !== null);
  if (field === undefined) return entry;
  const block = entry[field];
  // Some hosts write `auth: "oauth"`, which is the default here.
  if (block === true || block === 'oauth') return without(entry, field);
  if (block === false) return entry;
  if (!isObject(block)) {
    report([field], 'unused-field', 'does not describe a client for the sign-in, and is not used', 'warning');
    return without(entry, field);
  }
  const { enabled, ...rest } = block;
  if (enabled === false || enabled === 'false') return { ...entry, [field]: false };
  const fields: Record<string, unknown> = {};
  const unused: string[] = [];
  for (const [name, value] of Object.entries(rest)) {
    const known = NAMES.get(plain(name));
    if (known === undefined) unused.push(`'${name}'`);
    else if (value !== undefined && value !== null) fields[known] = readValue(known, value);
  }
  if (unused.length > 0) {
    const [has, is] = unused.length === 1 ? ['has', 'is'] : ['have', 'are'];
    report(
      [field],
      'unused-field',
      `${unused.join(', ')} ${has} no meaning here and ${is} not used for the sign-in`,
      'warning',
    );
  }
  if (Object.keys(fields).length === 0) return without(entry, field);
  if ((fields['authorizationUrl'] === undefined) !== (fields['tokenUrl'] === undefined))
    report([field], 'missing-field', "'authorizationUrl' and 'tokenUrl' are used only together", 'warning');
  return { ...entry, [field]: fields };
}

function readValue(field: string, value: unknown): unknown {
  if (field === 'scope' && Array.isArray(value)) return value.join(' ');
  return field === 'redirectUrl' ? wholeRedirect(value) : value;
}

function without(entry: RawEntry, field: string): RawEntry {
  const { [field]: _, ...rest } = entry;
  return rest;
}
