/** The commands for the completion of command lines. */
import { Argument, type Command } from 'commander';
import { SHELLS, type Shell } from '../arguments/flags.js';
import { addCommand, type Act } from './declare.js';

export function addCompletion(program: Command, act: Act): void {
  addCommand(program, 'completion', 'print a script with which a shell completes commands, servers and tools')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(SHELLS))
    .action(async (shell: Shell, _, command: Command) => {
      const { completion } = await import('../commands/completion-command.js');
      await act(command, (flags, terminal) => completion(flags, terminal, shell));
    });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[], _, command: Command) => {
      const { complete } = await import('../commands/completion-command.js');
      await act(command, (__, terminal) => complete(program, terminal, words));
    });
}
