/** What the declarations of commands share. */
import { type Command, Option } from 'commander';
import { LOG_FORMATS, type Flags } from '../arguments/flags.js';
import type { ExitCode } from '../exit.js';
import type { Terminal } from '../output/terminal.js';

export type Work<TFlags> = (flags: TFlags, terminal: Terminal) => Promise<ExitCode>;

/** Runs the work of a command with its flags. */
export type Act = <TFlags extends Flags>(command: Command, work: Work<TFlags>) => Promise<void>;

export function addCommand(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).showHelpAfterError(`See 'troupe ${name} --help'.`);
}

/** `undefined` is the variable, or no fleet. */
export function fleetOption(): Option {
  return new Option(
    '--fleet <url>',
    'join the hosts that share this engine, such as redis://HOST or nats://HOST, with the key in $TROUPE_FLEET_KEY; default: $TROUPE_FLEET',
  );
}

/** `undefined` is text. */
export function logFormatOption(): Option {
  return new Option(
    '--log-format <format>',
    'form of the log on stderr: text (default), or one JSON object a line',
  ).choices(LOG_FORMATS);
}
