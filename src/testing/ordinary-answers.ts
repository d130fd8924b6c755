/** The answers of a scripted server if its script has none: the ones of a small, well-behaved server. */
import type { Tool } from '../mcp/server-offers.js';
import { NEW_VERSION } from '../../machines/policy/protocol-era.js';
import { isJsonObject } from '../json/json-object.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/protocol-client.js';
import { META_PREFIX } from '../protocol/server-identity.js';
import { UNSUPPORTED_PROTOCOL_VERSION } from '../transports/json-rpc.js';
import { TASKS } from '../protocol/tasks.js';
import { offersTasks } from './scripted-tasks.js';
import type { Params, ServerScript } from './server-script.js';
import { asText } from '../text/as-text.js';

/**
 * A tool with that name. The other fields have defaults.
 *
 * @param name The server's own name for it.
 * @param more Other fields. Default: a description, and an input schema that accepts any object.
 *
 * @example
 * ```ts
 * import { createScriptedServer, tool } from 'mcp-troupe/testing';
 *
 * const server = createScriptedServer({ tools: [tool('read', { annotations: { readOnlyHint: true } })] });
 * ```
 */
export function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, description: `does ${name}`, inputSchema: { type: 'object' }, ...more };
}

/**
 * A tool result that holds one text.
 *
 * @param value The text of the only block.
 *
 * @example
 * ```ts
 * import { createScriptedServer, text } from 'mcp-troupe/testing';
 *
 * const server = createScriptedServer({ on: { 'tools/call': { result: text('done') } } });
 * ```
 */
export function text(value: string): {
  /** One block with the text. */
  content: {
    /** Always `text`. */
    type: 'text';
    /** The given text. */
    text: string;
  }[];
} {
  return { content: [{ type: 'text', text: value }] };
}

export function ordinaryAnswer(script: ServerScript, method: string, params: Params): unknown {
  const { protocolVersion, capabilities = { tools: { listChanged: true } } } = script;
  switch (method) {
    case 'server/discover':
      if (script.era !== 'new' && script.era !== 'both') break;
      return {
        supportedVersions: [NEW_VERSION],
        capabilities: offersTasks(script) ? { ...capabilities, extensions: { [TASKS]: {} } } : capabilities,
        instructions: 'Be kind.',
      };
    case 'initialize':
      if (script.era === 'new') throw refusedVersion(params['protocolVersion']);
      return {
        protocolVersion: protocolVersion ?? params['protocolVersion'],
        capabilities,
        serverInfo: { name: 'scripted', version: '1.2.3' },
        instructions: 'Be kind.',
      };
    case 'tools/list':
      return page(script, params['cursor'] === undefined ? 0 : Number(params['cursor']));
    case 'tools/call':
      if (!offered(script).some(({ name }) => name === params['name'])) throw unknownTool(params['name']);
      return text(`${asText(params['name'])} ${JSON.stringify(params['arguments'])}`);
    case 'ping':
      return {};
  }
  throw Object.assign(new Error('Method not found'), { code: METHOD_NOT_FOUND });
}

function refusedVersion(requested: unknown): Error {
  const data = { supported: [NEW_VERSION], requested };
  return Object.assign(new Error('Unsupported protocol version'), {
    code: UNSUPPORTED_PROTOCOL_VERSION,
    data,
  });
}

/** Whether a request names its protocol version, as requests of the new era do. */
export function isStateless(params: Params): boolean {
  return (params['_meta'] as Params | undefined)?.[`${META_PREFIX}protocolVersion`] !== undefined;
}

/** Results that carry hints for caches (MCP 2026-07-28, "Caching"). */
const CACHEABLE = /^server\/discover$|\/(?:templates\/)?list$|^resources\/read$/;

/** The result with what every result of the new era has. */
export function inNewEra(method: string, result: unknown): unknown {
  if (!isJsonObject(result)) return result;
  const hints = CACHEABLE.test(method) ? { ttlMs: 0, cacheScope: 'private' } : {};
  const meta = { [`${META_PREFIX}serverInfo`]: { name: 'scripted', version: '1.2.3' } };
  return { resultType: 'complete', ...hints, _meta: meta, ...result };
}

const pagesOf = ({ pages, tools = [tool('echo')] }: ServerScript) => pages ?? [tools];

/** Anything may be in a list of tools. */
const offered = (script: ServerScript): readonly Partial<Tool>[] =>
  pagesOf(script)
    .flat()
    .filter((each) => typeof each === 'object' && each !== null);

/** As servers of the SDK answer. */
function unknownTool(name: unknown): Error {
  return Object.assign(new Error(`Tool ${asText(name)} not found`), { code: INVALID_PARAMS });
}

function page(script: ServerScript, index: number): Params {
  const all = pagesOf(script);
  const isLast = index >= all.length - 1;
  return { tools: all[index] ?? [], ...(isLast ? {} : { nextCursor: String(index + 1) }) };
}
