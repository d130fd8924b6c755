/** Agents for the terminal whose entries have a form of their own: Codex, Goose and opencode. */
import { isObject, isEmptyCollection } from '../entry/read-shape.js';
import type { RawEntry } from '../entry/spelling.js';
import {
  fromSeconds,
  isAbsent,
  joined,
  reference,
  toolLists,
  translate,
  type Translate,
  foreign,
} from './translation.js';
import { printable } from '../entry/problem.js';
import { asText } from '../../text/as-text.js';

// Codex: `[mcp_servers.NAME]` of `config.toml`.

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

// Goose: `extensions` of `config.yaml`. Other hosts can only start those that are MCP servers.

const SERVER_TYPES = new Set<unknown>(['stdio', 'sse', 'streamable_http']);

export const translateGoose: Translate = (entry) => {
  const { type, envs, env_keys: keys, timeout, available_tools: tools } = entry;
  if (typeof type === 'string' && !SERVER_TYPES.has(type)) {
    return foreign(`an extension of type '${printable(type)}' is a part of Goose`);
  }
  return translate(entry, {
    renamed: { cmd: 'command', uri: 'url' },
    made: {
      env: [joined(keyReferences(keys), envs), isAbsent(envs) ? 'env_keys' : 'envs'],
      callTimeoutMs: [fromSeconds(timeout ?? undefined), 'timeout'],
      // An empty list has no effect there.
      tools: [isAbsent(tools) || isEmptyCollection(tools) ? undefined : tools, 'available_tools'],
    },
    known: [
      'available_tools',
      'bundled',
      'description',
      'display_name',
      'env_keys',
      'envs',
      'name',
      'timeout',
    ],
  });
};

/** Goose keeps these values in its own store, or takes them from the environment, as Troupe does. */
function keyReferences(keys: unknown): unknown {
  if (!Array.isArray(keys) || keys.some((key) => typeof key === 'object')) return keys;
  return Object.fromEntries(keys.map((key: unknown) => [asText(key), reference(asText(key))]));
}

// opencode: `mcp` of `opencode.json`, or `mcp.servers` in its second version. Its references are `{env:NAME}`; a missing variable is empty there.

export const translateOpencode: Translate = (entry) => {
  if (isAbsent(entry['command']) && isAbsent(entry['url']) && isAbsent(entry['type'])) {
    return foreign('it only enables or disables a server that is defined elsewhere');
  }
  if (/\{file:/.test(JSON.stringify(entry))) return foreign("'{file:…}' is expanded only by opencode");
  const texts = withReferences(entry) as RawEntry;
  return translate(texts, {
    made: limits(texts['timeout']),
    // In opencode, `remote` is streamable HTTP with a fallback to SSE. Here, that is an entry without a type.
    known: texts['type'] === 'remote' ? ['type'] : [],
  });
};

/** Milliseconds: for the list of tools in the first version, for start and requests in the second. */
function limits(timeout: unknown): Readonly<Record<string, readonly [unknown, string, ...string[]]>> {
  if (isAbsent(timeout)) return {};
  if (!isObject(timeout)) return { startTimeoutMs: [timeout, 'timeout'] };
  return {
    startTimeoutMs: [timeout['startup'] ?? undefined, 'timeout', 'startup'],
    callTimeoutMs: [timeout['request'] ?? undefined, 'timeout', 'request'],
  };
}

function withReferences(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\{env:([^{}]+)\}/g, (_, name: string) => reference(name));
  }
  if (Array.isArray(value)) return value.map(withReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withReferences(item)]));
}
