/** The commands for what servers offer beside tools. */
import type { Command } from 'commander';
import { toFile } from '../arguments/flags.js';
import type { PromptFlags } from '../commands/prompt-command.js';
import type { ReadFlags } from '../commands/read-command.js';
import { addCommand, type Act, type Host } from './declare.js';

export function addOffers(program: Command, act: Act, { stdin }: Host): void {
  addCommand(program, 'resources', 'list the resources and resource templates')
    .argument('[server...]', 'names of servers; default: all')
    .action(async (servers: string[], _, command: Command) => {
      const { resources } = await import('../commands/resources-command.js');
      await act(command, (flags, terminal) => resources(flags, terminal, { servers, stdin }));
    });
  addCommand(program, 'read', 'read a resource; starts only its server if --server names it')
    .argument('<uri>', 'URI that a server lists, or that fits one of its templates')
    .option('--server <name>', 'server to ask; default: the only one that offers the URI')
    .option('--output <file>', 'write the content to this file', toFile)
    .option('--force', 'replace an existing file')
    .action(async (uri: string, _, command: Command) => {
      const { read } = await import('../commands/read-command.js');
      await act<ReadFlags>(command, (flags, terminal) => read(flags, terminal, { uri, stdin }));
    });
  addCommand(program, 'prompts', 'list the prompts with their arguments')
    .argument('[server...]', 'names of servers; default: all')
    .action(async (servers: string[], _, command: Command) => {
      const { prompts } = await import('../commands/prompts-command.js');
      await act(command, (flags, terminal) => prompts(flags, terminal, { servers, stdin }));
    });
  addCommand(program, 'prompt', 'print a prompt, filled in; starts only its server')
    .argument('<prompt>', 'mcp__SERVER__PROMPT, SERVER/PROMPT, SERVER.PROMPT or SERVER PROMPT')
    .argument('[args...]', 'key=value pairs, a JSON object, or - to read it from stdin')
    .action(async (prompt: string, words: string[], _, command: Command) => {
      const { prompt: print } = await import('../commands/prompt-command.js');
      await act<PromptFlags>(command, (flags, terminal) => print(flags, terminal, { prompt, words, stdin }));
    });
}
