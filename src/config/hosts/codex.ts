/** Codex: `[mcp_servers.NAME]` of `config.toml`. */
import { isObject } from '../entry/read-shape.js';
import type { RawEntry } from '../entry/spelling.js';
import {
  fromSeconds,
  isAbsent,
  joined,
  reference,
  toolLists,
  translate,
  type Translate,
} from './translation.js';

export const translateCodex: Translate = (entry) => {
  const { bearer_token_env_var: tokenVariable, env_http_headers: variables } = entry;
  const token = typeof tokenVariable === 'string' ? `Bearer ${reference(tokenVariable)}` : tokenVariable;
  const headers = joined(
    entry['headers'],
    entry['http_headers'],
    toReferences(variables),
    isAbsent(token) ? undefined : { Authorization: token },
  );
  const { startup_timeout_sec: seconds, startup_timeout_ms: ms } = entry;
  const { made, origins } = toolLists(entry, 'enabled_tools', 'disabled_tools');
  return translate(entry, {
    made: {
      ...made,
      headers: [headers, isAbsent(entry['http_headers']) ? 'env_http_headers' : 'http_headers'],
      inheritEnv: [namesOf(entry['env_vars']), 'env_vars'],
      startTimeoutMs: isAbsent(seconds)
        ? [ms ?? undefined, 'startup_timeout_ms']
        : [fromSeconds(seconds), 'startup_timeout_sec'],
      callTimeoutMs: [fromSeconds(entry['tool_timeout_sec'] ?? undefined), 'tool_timeout_sec'],
      oauth: [oauthOf(entry), isAbsent(entry['oauth']) ? 'scopes' : 'oauth'],
    },
    origins: { ...origins, 'headers.Authorization': ['bearer_token_env_var'] },
    known: KNOWN,
  });
};

const KNOWN = [
  'bearer_token_env_var',
  'default_tools_approval_mode',
  'disabled_tools',
  'enabled_tools',
  'env_http_headers',
  'env_vars',
  'headers',
  'http_headers',
  'name',
  'oauth_resource',
  'required',
  'scopes',
  'auth',
  'startup_timeout_ms',
  'startup_timeout_sec',
  'supports_parallel_tool_calls',
  'tool_timeout_sec',
  'tools',
];

function toReferences(variables: unknown): unknown {
  if (!isObject(variables)) return variables;
  return Object.fromEntries(
    Object.entries(variables).map(([header, name]) => [
      header,
      typeof name === 'string' ? reference(name) : name,
    ]),
  );
}

/** The table `oauth` holds the client; `scopes` is next to it. */
function oauthOf({ oauth, scopes }: RawEntry): unknown {
  return joined(oauth, isAbsent(scopes) ? undefined : { scopes });
}

/** A name, or a table with one. */
function namesOf(variables: unknown): unknown {
  if (isAbsent(variables)) return undefined;
  if (!Array.isArray(variables)) return variables;
  return variables.map((item: unknown) => (isObject(item) ? item['name'] : item));
}
