/** Goose: `extensions` of `config.yaml`. Other hosts can only start those that are MCP servers. */
import { printable } from '../entry/problem.js';
import { isEmptyCollection } from '../entry/read-shape.js';
import {
  foreign,
  fromSeconds,
  isAbsent,
  joined,
  reference,
  translate,
  type Translate,
} from './translation.js';
import { asText } from '../../text/as-text.js';

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
