/** The command that writes code for tools. */
import { Option, type Command } from 'commander';
import { toFile } from '../arguments/flags.js';
import type { GenerateFlags } from '../commands/generate-command.js';
import { addCommand, type Act } from './declare.js';
import type { Host } from '../host.js';

export function addGenerate(program: Command, act: Act, { stdin }: Host): void {
  addCommand(program, 'generate', 'write the types of the tools as TypeScript, or a command for one server')
    .argument('[server...]', 'names of servers; default: all')
    .option('--out <file>', 'write this file; default: print the types', toFile)
    .option('--check', 'compare the file with the tools, list what has changed, and write nothing')
    .addOption(new Option('--cli <server>', 'write a command whose subcommands are the tools of this server'))
    .action(async (servers: string[], _, command: Command) => {
      const { generate } = await import('../commands/generate-command.js');
      await act<GenerateFlags>(command, (flags, terminal) => generate(flags, terminal, { servers, stdin }));
    });
}
