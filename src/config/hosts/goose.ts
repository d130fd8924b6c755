/** Goose: `extensions` of `config.yaml`. Only those that are MCP servers of their own can be started by somebody else. */
import { isEmptyCollection } from '../choose-transport.js';
import { printable } from '../problem.js';
import {
  foreign,
  fromSeconds,
  isAbsent,
  joined,
  reference,
  translate,
  type Translate,
} from './translation.js';

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
      callTimeout: [fromSeconds(timeout ?? undefined), 'timeout'],
      // An empty list says nothing there.
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

/** Goose keeps these values in a store of its own, or takes them from the environment, as is done here. */
function keyReferences(keys: unknown): unknown {
  if (!Array.isArray(keys) || keys.some((key) => typeof key === 'object')) return keys;
  return Object.fromEntries(keys.map((key: unknown) => [String(key), reference(String(key))]));
}
