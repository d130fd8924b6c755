/** The commands for the process of `up --background`. */
import type { Command } from 'commander';
import { toCount } from '../arguments/flags.js';
import type { LogsFlags } from '../commands/logs-command.js';
import type { CommandInput, Run } from '../host.js';
import { addCommand, type Act } from './declare.js';

interface Acts {
  readonly act: Act;
  readonly reuse: Act;
  readonly run: Run;
}

export function addBackground(program: Command, { act, reuse, run }: Acts, input: CommandInput): void {
  addCommand(program, 'down', "end the process of 'up --background'").action(async (_, command: Command) => {
    const { down } = await import('../commands/down-command.js');
    await act(command, down);
  });
  addCommand(
    program,
    'logs',
    "show what the servers of 'up --background' wrote to stderr, and their log messages",
  )
    .argument('[server...]', 'names of servers; default: all')
    .option('-f, --follow', 'go on until Ctrl-C')
    .option('--lines <n>', 'how many of the last lines; 0 = none', toCount, 100)
    .action(async (servers: string[], _, command: Command) => {
      await reuse<LogsFlags>(command, async (flags, terminal) => {
        const { logs } = await import('../commands/logs-command.js');
        return logs(flags, terminal, { servers, ...input });
      });
    });
  program.command('__background', { hidden: true }).action(async (_, command: Command) => {
    const { serveInBackground } = await import('../commands/background-process.js');
    await act(command, () => serveInBackground(run));
  });
}
