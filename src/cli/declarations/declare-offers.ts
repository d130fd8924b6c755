/** The commands for what servers offer beside tools. */
import type { Command } from 'commander';
import { toFile } from '../arguments/flags.js';
import type { PromptFlags } from '../commands/prompts-command.js';
import type { ReadFlags } from '../commands/read-command.js';
import type { CommandInput } from '../host.js';
import { addCommand, type Act } from './declare.js';

export function addOffers(program: Command, reuse: Act, input: CommandInput): void {
  addCommand(program, 'resources', 'list the resources and resource templates')
    .argument('[server...]', 'names of servers; default: all')
    .action(async (servers: string[], _, command: Command) => {
      await reuse(command, async (flags, terminal) => {
        const { resources } = await import('../commands/resources-command.js');
        return resources(flags, terminal, { servers, ...input });
      });
    });
  addCommand(program, 'read', 'read a resource; starts only its server if --server names it')
    .argument('<uri>', 'URI that a server lists, or that fits one of its templates')
    .option('--server <name>', 'server to ask; default: the only one that offers the URI')
    .option('--output <file>', 'write the content to this file', toFile)
    .option('--force', 'replace an existing file')
    .action(async (uri: string, _, command: Command) => {
      await reuse<ReadFlags>(command, async (flags, terminal) => {
        const { read } = await import('../commands/read-command.js');
        return read(flags, terminal, { uri, ...input });
      });
    });
  addCommand(program, 'prompts', 'list the prompts with their arguments')
    .argument('[server...]', 'names of servers; default: all')
    .action(async (servers: string[], _, command: Command) => {
      await reuse(command, async (flags, terminal) => {
        const { prompts } = await import('../commands/prompts-command.js');
        return prompts(flags, terminal, { servers, ...input });
      });
    });
  addCommand(program, 'prompt', 'print a prompt, filled in; starts only its server')
    .argument('<prompt>', 'mcp__SERVER__PROMPT, SERVER/PROMPT, SERVER.PROMPT or SERVER PROMPT')
    .argument('[args...]', 'key=value pairs, a JSON object, or - to read it from stdin')
    .action(async (prompt: string, words: string[], _, command: Command) => {
      await reuse<PromptFlags>(command, async (flags, terminal) => {
        const { prompt: print } = await import('../commands/prompts-command.js');
        return print(flags, terminal, { prompt, words, ...input });
      });
    });
}
