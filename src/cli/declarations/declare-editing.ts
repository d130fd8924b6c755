/** The commands that change configuration files. */
import type { Command } from 'commander';
import type { AddFlags, PlaceFlags } from '../commands/edit-commands.js';
import { addCommand, type Act } from './declare.js';

export function addEditing(program: Command, act: Act): void {
  addCommand(program, 'init', 'write a configuration file without servers')
    .option('--user', "the user's own file instead of the project's .mcp.json")
    .action(async (_, command: Command) => {
      const { init } = await import('../commands/edit-commands.js');
      await act<PlaceFlags>(command, init);
    });
  addCommand(program, 'add', 'add a server to a configuration file; its comments and order stay')
    .argument('<server>', 'name of the server')
    .argument('<command-or-url...>', 'address, or command; write -- before a command with options')
    .option('--user', "the user's own file instead of the project's .mcp.json")
    .option(
      '--env <name[=value]>',
      'variable of its environment; without a value, of yours (repeatable)',
      collect,
    )
    .option('--header <name: value>', 'header for an address (repeatable)', collect)
    .option('--cwd <folder>', 'folder that the command starts in')
    .option('--force', 'replace an entry of that name')
    .action(async (server: string, words: string[], _, command: Command) => {
      const { add } = await import('../commands/edit-commands.js');
      await act<AddFlags>(command, (flags, terminal) => add(flags, terminal, { server, words }));
    });
  addCommand(program, 'remove', 'remove a server from its configuration file')
    .argument('<server>', 'name of the server')
    .action(async (server: string, _, command: Command) => {
      const { remove } = await import('../commands/edit-commands.js');
      await act(command, (flags, terminal) => remove(flags, terminal, server));
    });
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    addCommand(program, name, `${name} a server in its configuration file`)
      .argument('<server>', 'name of the server')
      .action(async (server: string, _, command: Command) => {
        const { setEnabled } = await import('../commands/edit-commands.js');
        await act(command, (flags, terminal) => setEnabled(flags, terminal, { server, enabled }));
      });
  }
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
