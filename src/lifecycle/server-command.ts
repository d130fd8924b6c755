/** A `troupe` command for one server, for a person to copy. */
import { UNPRINTABLE } from '../config/entry/problem.js';
import { visibleName } from '../text/visible-text.js';

/** Commands that take the name of a server. */
type ServerCommand = 'trust' | 'login' | 'check' | 'enable' | 'tools' | 'prompts';

/** The name is quoted if a shell would not take it as one word. If it cannot be printed, the command is described. */
export function serverCommand(command: ServerCommand, server: string): string {
  if (server === '' || UNPRINTABLE.test(server) || visibleName(server) !== server)
    return `'troupe ${command}' with its name`;
  const word = /^[\w.@/+:-]+$/.test(server) ? server : `'${server.replaceAll("'", "'\\''")}'`;
  return `troupe ${command} ${server.startsWith('-') ? '-- ' : ''}${word}`;
}
