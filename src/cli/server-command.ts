/** A command of `troupe` for one server, as a person may copy it. */

/** A name that a shell would not take for one word is no part of a command line to copy. */
export function serverCommand(command: 'trust' | 'login', server: string): string {
  const isOneWord = /^[\w.@/+:][\w.@/+:-]*$/.test(server);
  return isOneWord ? `troupe ${command} ${server}` : `'troupe ${command}' with its name`;
}
