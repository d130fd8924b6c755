/**
 * The block of an entry that names a client for the sign-in, in the spellings of all hosts: `oauth` of Claude Code, VS
 * Code, Gemini CLI, opencode and Codex, `auth` of Cursor. Pure.
 */
import type { EntryOAuth } from './server-config.js';
import { isObject, type Report } from './read-shape.js';
import type { RawEntry } from './spelling.js';

const SPELLINGS: Readonly<Record<keyof EntryOAuth, readonly string[]>> = {
  clientId: ['clientId', 'client_id', 'CLIENT_ID', 'clientID'],
  clientSecret: ['clientSecret', 'client_secret', 'CLIENT_SECRET'],
  scope: ['scope', 'scopes'],
  callbackPort: ['callbackPort', 'callback_port', 'redirectPort'],
  redirectUrl: ['redirectUrl', 'redirectUri', 'redirect_uri', 'redirectURI', 'callbackUrl'],
  metadataUrl: ['metadataUrl', 'authServerMetadataUrl', 'auth_server_metadata_url'],
  authorizationUrl: ['authorizationUrl', 'authorization_url', 'authorizationEndpoint'],
  tokenUrl: ['tokenUrl', 'token_url', 'tokenEndpoint'],
};

const NAMES = new Map(
  Object.entries(SPELLINGS).flatMap(([name, spellings]) => spellings.map((spelling) => [spelling, name])),
);

/** The entry with the block in Troupe's spelling. Reports the parts that have no meaning here. */
export function withOAuthBlock(entry: RawEntry, report: Report): RawEntry {
  const field = ['oauth', 'auth'].find((name) => entry[name] !== undefined && entry[name] !== null);
  if (field === undefined) return entry;
  const block = entry[field];
  // Some hosts write `auth: "oauth"`, which is the default here.
  if (block === true || block === 'oauth') return without(entry, field);
  if (block === false) return entry;
  if (!isObject(block)) {
    report([field], 'does not describe a client for the sign-in, and is not used', 'warning');
    return without(entry, field);
  }
  const { enabled, ...rest } = block;
  if (enabled === false || enabled === 'false') return { ...entry, [field]: false };
  const fields: Record<string, unknown> = {};
  const unused: string[] = [];
  for (const [name, value] of Object.entries(rest)) {
    const known = NAMES.get(name);
    if (known === undefined) unused.push(`'${name}'`);
    else if (value !== undefined && value !== null)
      fields[known] = Array.isArray(value) && known === 'scope' ? value.join(' ') : value;
  }
  if (unused.length > 0) {
    const [has, is] = unused.length === 1 ? ['has', 'is'] : ['have', 'are'];
    report(
      [field],
      `${unused.join(', ')} ${has} no meaning here and ${is} not used for the sign-in`,
      'warning',
    );
  }
  if (Object.keys(fields).length === 0) return without(entry, field);
  if ((fields['authorizationUrl'] === undefined) !== (fields['tokenUrl'] === undefined))
    report([field], "'authorizationUrl' and 'tokenUrl' are used only together", 'warning');
  return { ...entry, [field]: fields };
}

function without(entry: RawEntry, field: string): RawEntry {
  const { [field]: _, ...rest } = entry;
  return rest;
}
