/** Zed: `context_servers` of `settings.json`; in older versions the command may be an object. */
import { isObject } from '../entry/read-shape.js';
import { foreign, isAbsent, joined, translate, type Translate, type Translation } from './translation.js';

export const translateZed: Translate = (entry) => {
  const { command, url, source } = entry;
  if (isAbsent(command) && isAbsent(url) && (source === 'extension' || isObject(entry['settings']))) {
    return foreign('it belongs to an extension of Zed');
  }
  if (!isObject(command)) return translate(entry, { known: KNOWN });
  return fromObject({ ...entry, command });
};

const KNOWN = ['remote', 'settings', 'source'];

function fromObject(entry: Readonly<Record<string, unknown>> & { readonly command: object }): Translation {
  const { path, args, env } = entry.command as Readonly<Record<string, unknown>>;
  return translate(entry, {
    made: {
      command: [path, 'command', 'path'],
      args: [args ?? undefined, 'command', 'args'],
      env: [joined(entry['env'], env), 'command', 'env'],
    },
    known: [...KNOWN, 'args', 'env'],
  });
}
