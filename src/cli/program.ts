/**
 * The command line as a whole: which commands and flags there are, and what an error comes to. The code of a command
 * is loaded when it is called.
 *
 * Longer than most because every command and every flag is here, with its help.
 *
 * P1. Every error is one line that says why, `troupe: …`; a wrong command line is followed by where help is.
 */
import { Argument, Command, CommanderError, Option } from 'commander';
import { nearestName } from '../config/near-miss.js';
import { ConfigError } from '../errors.js';
import { PACKAGE } from '../package.js';
import { messageOf } from '../thrown.js';
import type { CheckFlags } from './commands/check.js';
import type { ConfigFlags } from './commands/config.js';
import type { ImportFlags } from './commands/import.js';
import type { InspectFlags } from './commands/inspect.js';
import type { MachineFlags } from './commands/machine.js';
import type { ReplayFlags } from './commands/replay.js';
import type { ReviewFlags } from './commands/review.js';
import type { ServeFlags } from './commands/serve.js';
import type { ToolsFlags } from './commands/tools.js';
import type { TrustFlags } from './commands/trust.js';
import type { UpFlags } from './commands/up.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import {
  CHART_FORMATS,
  collectFile,
  collectServer,
  collectUrl,
  DEFAULT_FLAGS,
  MACHINE_NAMES,
  toAttempts,
  toFile,
  toMegabytes,
  toMilliseconds,
  toPid,
  toPort,
  toUrl,
  type Flags,
  type MachineName,
} from './flags.js';
import { toMoment } from './moment.js';
import { manyLines, oneLine } from './safe-text.js';
import { Terminal, watchReaders, type Streams } from './terminal.js';
import { UsageError } from './usage-error.js';

/** What the command needs of a process. */
export interface Host extends Streams {
  readonly stdin: NodeJS.ReadableStream;
}

type Work<TFlags> = (flags: TFlags, terminal: Terminal) => Promise<ExitCode>;

/** Runs one command line; `args` are the words after the name of the command. Never rejects. */
export async function run(args: readonly string[], host: Host): Promise<ExitCode> {
  const gone = watchReaders(host);
  let code: ExitCode = EXIT.fine;
  const act: Act = async <TFlags extends Flags>(command: Command, work: Work<TFlags>) => {
    const flags = { ...DEFAULT_FLAGS, ...command.optsWithGlobals<TFlags>() };
    try {
      code = await work(flags, new Terminal(host, gone, flags.color));
    } catch (error) {
      throw error instanceof UsageError ? toCommanderError(error, command) : error;
    }
  };
  const program = makeProgram(host);
  addUp(program, act, host.stdin);
  addServe(program, act, host.stdin);
  addCheck(program, act, host.stdin);
  addTools(program, act, host.stdin);
  addCall(program, act, host.stdin);
  addReplay(program, act);
  addInspect(program, act);
  addConfig(program, act);
  addImport(program, act);
  addTrust(program, act, host.stdin);
  addReview(program, act, host.stdin);
  addLogin(program, act);
  addLogout(program, act);
  addMachine(program, act);
  addHelp(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    const told = error instanceof UsageError ? toCommanderError(error, program) : error;
    if (told instanceof CommanderError) return told.exitCode === 0 ? EXIT.fine : EXIT.usage;
    host.stderr.write(`troupe: ${oneLine(messageOf(told))}\n`);
    if (args.includes('--verbose')) host.stderr.write(`${manyLines(stackOf(told))}\n`);
    return told instanceof ConfigError ? EXIT.usage : EXIT.failed;
  }
}

type Act = <TFlags extends Flags>(command: Command, work: Work<TFlags>) => Promise<void>;

function makeProgram({ stdout, stderr }: Host): Command {
  return new Command('troupe')
    .description('Keeps MCP server connections alive, and shows which fail and why.')
    .version(PACKAGE.version, '--version', 'print the version')
    .option(
      '--config <file>',
      'read servers from this file (repeatable); default: what is found',
      collectFile,
    )
    .option('--add <name=command-or-url>', 'add a server (repeatable)', collectServer)
    .option('--json', 'print JSON on stdout, and nothing else there')
    .option('--timeout <ms>', 'limit of launch, handshake, list and call, each; 0 = none', toMilliseconds)
    .option('--verbose', 'tell more on stderr')
    .option('--no-color', 'print without colors')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns || 80,
      getErrHelpWidth: () => stderr.columns || 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(`troupe: ${oneLine(text.replace(/^error: /, ''))}\n`),
    })
    .showHelpAfterError("See 'troupe --help'.")
    .addHelpText(
      'after',
      '\nExit codes: 0 fine, 1 something asked for failed, 2 wrong command line or configuration.',
    )
    .exitOverride();
}

function addCommand(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).showHelpAfterError(`See 'troupe ${name} --help'.`);
}

function addUp(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'up', 'connect all servers and keep them alive until Ctrl-C')
    .option('--record <file>', "record what happens, for 'troupe replay'; holds no secret", toFile)
    .option('--record-max <mb>', 'size after which a new file begins; two are kept', toMegabytes, 64)
    .option('--record-wire', 'note every message: direction, method, id, size, time until the answer')
    .option('--record-bodies', 'note the messages themselves too, arguments and results; secrets are masked')
    .option('--inspect [port]', 'serve a page that shows everything, for this computer alone', toPort)
    .option('--stately', "serve one that hands it all to Stately's hosted inspector")
    .action(async (_, command: Command) => {
      const { up } = await import('./commands/up.js');
      await act<UpFlags>(command, (flags, terminal) => up(flags, terminal, stdin));
    });
}

function addServe(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'serve', 'be one MCP server that has what all servers have, on stdin and stdout')
    .option('--http [port]', 'on HTTP instead, for many clients; default: any port that is free', toPort)
    .option('--host <address>', 'listen there; one that others reach needs a token or an issuer')
    .option('--token <token>', 'what HTTP clients must bring; default: the variable TROUPE_SERVE_TOKEN')
    .option('--oauth-issuer <url>', 'take the tokens of this authorization server (repeatable)', collectUrl)
    .option('--public-url <url>', 'where HTTP clients reach it, if that is behind a proxy', toUrl)
    .option('--bare', 'there is one server, and nothing of it is renamed')
    .option('--fail-closed', 'refuse clients while a server has failed')
    .option('--admin-tools', 'add tools to see the status of servers, and to retry or restart one')
    .option('--drain <ms>', 'how long calls in flight may go on at the end', toMilliseconds, 10_000)
    .action(async (_, command: Command) => {
      const { serve } = await import('./commands/serve.js');
      await act<ServeFlags>(command, (flags, terminal) => serve(flags, terminal, stdin));
    });
}

function addCheck(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'check', 'try every server and explain each failure')
    .option('--attempts <n>', 'attempts for each server', toAttempts, 1)
    .action(async (_, command: Command) => {
      const { check } = await import('./commands/check.js');
      await act<CheckFlags>(command, (flags, terminal) => check(flags, terminal, stdin));
    });
}

function addTools(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'tools', 'list the tools as a model sees them')
    .option('--server <name>', 'start and list only this server')
    .action(async (_, command: Command) => {
      const { tools } = await import('./commands/tools.js');
      await act<ToolsFlags>(command, (flags, terminal) => tools(flags, terminal, stdin));
    });
}

function addCall(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'call', 'call one tool, starting only its server')
    .argument('<tool>', 'mcp__SERVER__TOOL, or SERVER/TOOL')
    .argument('[args...]', 'one JSON object, - to read it from stdin, or key=value pairs')
    .action(async (tool: string, words: string[], _, command: Command) => {
      const { call } = await import('./commands/call.js');
      await act(command, (flags, terminal) => call(flags, terminal, { tool, words, stdin }));
    });
}

function addReplay(program: Command, act: Act): void {
  addCommand(program, 'replay', "play a log of 'up --record' again, and tell what happened")
    .argument('<log...>', 'the file, or the files of one recording; LOG.1 and so on are found')
    .option(
      '--at <moment>',
      'stop there: the number of an entry, a time, or +seconds from the beginning',
      toMoment,
    )
    .option('--connection <name>', 'tell of this connection only')
    .addOption(
      new Option('--against <charts>', 'the charts to play it with').choices(['current']).default('current'),
    )
    .option('--timeline', 'tell every change of a state')
    .option('--svg <file>', 'draw the timeline', toFile)
    .option('--export-fixture <folder>', 'write a test that has it happen again', toFile)
    .action(async (logs: string[], _, command: Command) => {
      const { replay } = await import('./commands/replay.js');
      await act<ReplayFlags>(command, (flags, terminal) => replay(flags, terminal, logs));
    });
}

function addInspect(program: Command, act: Act): void {
  addCommand(program, 'inspect', "show a log, or a running 'up --inspect', in the browser")
    .argument('[log...]', 'the file, or the files of one recording; default: what runs')
    .option('--port <port>', 'port for the page of a log; default: any', toPort)
    .option('--pid <number>', "which 'up --inspect', where several run", toPid)
    .option('--no-open', 'open no browser')
    .action(async (logs: string[], _, command: Command) => {
      const { inspect } = await import('./commands/inspect.js');
      await act<InspectFlags>(command, (flags, terminal) => inspect(flags, terminal, logs));
    });
}

function addConfig(program: Command, act: Act): void {
  addCommand(program, 'config', 'show the servers, where each is configured, and what it hides')
    .option('--schema', 'print the JSON Schema of a configuration file')
    .action(async (_, command: Command) => {
      const { config } = await import('./commands/config.js');
      await act<ConfigFlags>(command, config);
    });
}

function addImport(program: Command, act: Act): void {
  addCommand(program, 'import', 'write all servers that are found into one file')
    .option('--output <file>', 'where to', '.mcp.json')
    .option('--force', 'replace the file if it is there')
    .action(async (_, command: Command) => {
      const { importServers } = await import('./commands/import.js');
      await act<ImportFlags>(command, importServers);
    });
}

function addTrust(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'trust', "approve a server of the project's files")
    .argument('[server]', 'its name')
    .option('--yes', 'approve without a question')
    .addOption(new Option('--revoke', 'take the approval back').conflicts('yes'))
    .addOption(new Option('--list', 'show what is approved').conflicts(['yes', 'revoke']))
    .action(async (server: string | undefined, _, command: Command) => {
      const { trust } = await import('./commands/trust.js');
      await act<TrustFlags>(command, (flags, terminal) => trust(flags, terminal, { server, stdin }));
    });
}

function addReview(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'review', 'show which tools have changed since they were approved')
    .argument('[tools...]', 'mcp__SERVER__TOOL, or SERVER/TOOL; default: all of every server')
    .option('--approve', 'approve what is shown, after a question for each')
    .option('--yes', 'approve without a question')
    .action(async (tools: string[], _, command: Command) => {
      const { review } = await import('./commands/review.js');
      await act<ReviewFlags>(command, (flags, terminal) => review(flags, terminal, { tools, stdin }));
    });
}

function addLogin(program: Command, act: Act): void {
  addCommand(program, 'login', 'sign in to a server in the browser')
    .argument('<server>', 'its name')
    .action(async (server: string, _, command: Command) => {
      const { login } = await import('./commands/login.js');
      await act(command, (flags, terminal) => login(flags, terminal, server));
    });
}

function addLogout(program: Command, act: Act): void {
  addCommand(program, 'logout', 'forget the sign-in to a server')
    .argument('<server>', 'its name')
    .action(async (server: string, _, command: Command) => {
      const { logout } = await import('./commands/logout.js');
      await act(command, (flags, terminal) => logout(flags, terminal, server));
    });
}

function addMachine(program: Command, act: Act): void {
  addCommand(program, 'machine', 'print the chart of a machine')
    .addArgument(new Argument('<machine>', 'which machine').choices(MACHINE_NAMES))
    .addOption(new Option('--format <format>', 'mermaid, unless --json is given').choices(CHART_FORMATS))
    .action(async (name: MachineName, _, command: Command) => {
      const { machine } = await import('./commands/machine.js');
      await act<MachineFlags>(command, async (flags, terminal) => machine(flags, terminal, name));
    });
}

/** Commander's own answers to a command that there is not with the help of all. */
function addHelp(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .argument('[command]')
    .description('display help for command')
    .action((name?: string) => {
      if (name === undefined) program.help();
      const known = program.commands.map((command) => command.name());
      const near = nearestName(name, known);
      const question = near === undefined ? '' : ` (Did you mean ${near}?)`;
      const asked = program.commands.find((command) => command.name() === name);
      (asked ?? program.error(`unknown command '${name}'${question}`)).help();
    });
}

/** Tells the error as Commander tells its own. */
function toCommanderError({ message }: UsageError, command: Command): unknown {
  try {
    return command.error(message);
  } catch (error) {
    return error;
  }
}

function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? '';
}
