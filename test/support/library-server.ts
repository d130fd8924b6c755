/** The script of a server with resources and prompts. */
import type { Handler, Script } from './scripted-server.js';

export interface Library {
  /** URIs; the name of each resource is the last part of its URI. */
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly string[];
  /** Capabilities that are added to those of a library or replace them. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly on?: Readonly<Record<string, Handler>>;
}

const DECLARED = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} };

export function library({
  resources = [],
  templates = [],
  prompts = [],
  capabilities,
  on = {},
}: Library = {}): Script {
  return {
    capabilities: { ...DECLARED, ...capabilities },
    on: {
      'resources/list': () => ({ resources: resources.map((uri) => ({ uri, name: endOf(uri) })) }),
      'resources/templates/list': () => ({
        resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: endOf(uriTemplate) })),
      }),
      'prompts/list': () => ({ prompts: prompts.map((name) => ({ name })) }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: `the text of ${String(uri)}` }] }),
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
      'prompts/get': ({ name, arguments: args }) => ({
        messages: [
          { role: 'user', content: { type: 'text', text: `${String(name)} ${JSON.stringify(args)}` } },
        ],
      }),
      'completion/complete': ({ argument }) => ({
        completion: { values: [`${(argument as { readonly value: string }).value}…`] },
      }),
      'logging/setLevel': () => ({}),
      ...on,
    },
  };
}

function endOf(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1);
}
