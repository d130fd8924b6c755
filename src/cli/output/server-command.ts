/** A `troupe` command for one server, for a person to copy. */

/** If a shell would not take the name as one word, the command is described instead. */
export function serverCommand(command: 'trust' | 'login', server: string): string {
  const isOneWord = /^[\w.@/+:][\w.@/+:-]*$/.test(server);
  return isOneWord ? `troupe ${command} ${server}` : `'troupe ${command}' with its name`;
}
