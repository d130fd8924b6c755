/**
 * The command line: all commands and flags with their help texts, and the exit code of each kind of error. The code of
 * a command is loaded when it runs.
 *
 * Longer than 300 lines because it declares every command and flag with its help text.
 *
 * P1. Every error is one line, `troupe: …`. After a usage error, a second line points to the help.
 */
import { Argument, Command, CommanderError, Option } from 'commander';
import type { Failure } from '../../machines/policy/failure.js';
import { nearestName } from '../text/option-names.js';
import { PACKAGE } from '../package.js';
import { messageOf } from '../text/error-message.js';
import type { CheckFlags } from './commands/check-command.js';
import type { ConfigFlags } from './commands/config-command.js';
import type { ImportFlags } from './commands/import-command.js';
import type { MachineFlags } from './commands/machine-command.js';
import type { ReviewFlags } from './commands/review-command.js';
import type { ToolsFlags } from './commands/tools-command.js';
import type { TrustFlags } from './commands/trust-command.js';
import type { UpBackgroundFlags } from './commands/background-process.js';
import type { UpFlags } from './commands/up-command.js';
import { EXIT, type ExitCode, UsageError } from './exit.js';
import {
  CHART_FORMATS,
  collectFile,
  collectServer,
  DEFAULT_FLAGS,
  MACHINE_NAMES,
  toAttempts,
  toDuration,
  toFile,
  toMegabytes,
  toMilliseconds,
  toPort,
  type Flags,
  type MachineName,
} from './arguments/flags.js';
import { relay } from './background/relay.js';
import { manyLines, oneLine, Terminal, watchReaders } from './output/terminal.js';
import { addBackground } from './declarations/declare-background.js';
import { addCommand, fleetOption, logFormatOption, type Act, type Work } from './declarations/declare.js';
import { addCompletion } from './declarations/declare-completion.js';
import { EXIT_CODES, VARIABLES } from './declarations/environment.js';
import { addEditing } from './declarations/declare-editing.js';
import { addExamples } from './declarations/examples.js';
import { addGenerate } from './declarations/declare-generate.js';
import { addServe } from './declarations/declare-serve.js';
import { addOffers } from './declarations/declare-offers.js';
import { addRecordings } from './declarations/declare-recordings.js';
import { Declined, type CommandInput, type Host } from './host.js';

/** What runs the work of a command: always here, or in a running troupe if there is one. */
export interface Acts {
  readonly act: Act;
  readonly reuse: Act;
}

/**
 * Runs one command line; `args` are the words after the name of the program. Never rejects, unless the host has a running
 * troupe: then with `Declined`.
 */
export async function run(args: readonly string[], host: Host): Promise<ExitCode> {
  const gone = watchReaders(host);
  let code: ExitCode = EXIT.fine;
  let isJsonLog = false;
  const act: Act = async <TFlags extends Flags>(command: Command, work: Work<TFlags>) => {
    const flags = { ...DEFAULT_FLAGS, ...command.optsWithGlobals<TFlags>() };
    isJsonLog = 'logFormat' in flags && flags.logFormat === 'json';
    try {
      code = await work(flags, new Terminal(host, gone, flags.color));
    } catch (error) {
      throw error instanceof UsageError ? toCommanderError(error, command) : error;
    }
  };
  const reuse: Act = (command, work) =>
    act(command, async (flags, terminal) => {
      if (host.running !== undefined) await host.running.prepare(flags);
      else if (flags.warm && host.env['TROUPE_WARM'] !== 'off') {
        const relayed = await relay({ args, host, flags, terminal });
        if (relayed !== undefined) return relayed;
      }
      return work(flags as Parameters<typeof work>[0], terminal);
    });
  const program = declareProgram({ act, reuse }, host);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof Declined) throw error;
    const reported = error instanceof UsageError ? toCommanderError(error, program) : error;
    if (reported instanceof CommanderError) return reported.exitCode === 0 ? EXIT.fine : EXIT.usage;
    const message = oneLine(`${messageOf(reported)} ${await causeIn(reported)}`);
    if (isJsonLog) await logFatal(host, gone, message);
    else host.stderr.write(`troupe: ${message}\n`);
    if (args.includes('--verbose')) host.stderr.write(`${manyLines(stackOf(reported))}\n`);
    const { ConfigError } = await import('../errors.js');
    return reported instanceof ConfigError ? EXIT.usage : EXIT.failed;
  }
}

/** The command with everything that it can do. */
export function declareProgram({ act, reuse }: Acts, host: Host): Command {
  const input: CommandInput = {
    get stdin() {
      return host.stdin;
    },
    running: host.running,
  };
  const program = makeProgram(host);
  addUp(program, act, host.stdin);
  addBackground(program, { act, reuse, run }, input);
  addServe(program, act, host);
  addCheck(program, act, host.stdin);
  addDoctor(program, act, host.stdin);
  addTools(program, reuse, input);
  addCall(program, reuse, input);
  addOffers(program, reuse, input);
  addGenerate(program, act, host);
  addRecordings(program, act);
  addConfig(program, act);
  addEditing(program, act);
  addImport(program, act);
  addTrust(program, act, host.stdin);
  addReview(program, act, host.stdin);
  addLogin(program, act, host.stdin);
  addLogout(program, act);
  addMachine(program, act);
  addCompletion(program, act);
  addHelp(program);
  addExamples(program);
  return program;
}

function makeProgram({ stdout, stderr }: Host): Command {
  const exitCodes = Object.entries(EXIT_CODES)
    .map(([code, meaning]) => `${code} ${meaning}`)
    .join(', ');
  const variables = Object.entries(VARIABLES)
    .map(([name, meaning]) => `  ${name}\n      ${meaning}`)
    .join('\n');
  return new Command('troupe')
    .description('Keeps MCP server connections alive and shows which ones fail and why.')
    .version(PACKAGE.version, '-v, --version', 'print the version')
    .option(
      '--config <file>',
      'read servers from this file instead of the files that are found (repeatable)',
      collectFile,
    )
    .option('--add <name=command-or-url>', 'add a server to those from the files (repeatable)', collectServer)
    .option('--discover', 'look for further servers; default: on, but off with --config')
    .option('--no-discover', 'use only the servers of --config and --add')
    .option('--json', 'print only JSON on stdout')
    .option(
      '--timeout <ms>',
      'time limit for each launch, handshake, list and call; 0 = no limit',
      toMilliseconds,
    )
    .option('--verbose', 'print more details on stderr')
    .option('--no-color', 'do not use colors')
    .option('--no-warm', "start servers even if 'up --background' runs")
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
    .addHelpText('after', `\nExit codes: ${exitCodes}.\n\nEnvironment variables:\n${variables}`)
    .exitOverride();
}

function addUp(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(
    program,
    'up',
    'keep all servers connected until Ctrl-C; on a terminal, in a console (? shows its keys)',
  )
    .option('--record <file>', "record events for 'troupe replay'; secrets are left out", toFile)
    .option('--record-max <mb>', 'size at which a new log file begins; two files are kept', toMegabytes, 64)
    .option('--record-wire', 'also record each message: direction, method, id, size and response time')
    .option('--record-bodies', 'also record message contents, with arguments and results; secrets are masked')
    .option('--inspect [port]', 'serve the inspection page, on this computer only', toPort)
    .addOption(logFormatOption())
    .addOption(fleetOption())
    .option('--stately', "serve a page that sends states and events to Stately's hosted inspector")
    .addOption(
      new Option(
        '--background',
        'keep the connections in the background, where call, tools, read and the like use them',
      ).conflicts(['inspect', 'stately', 'logFormat', 'fleet']),
    )
    .option(
      '--idle <duration>',
      'with --background: end after this time without a command; 0 = never',
      toDuration,
      15 * 60_000,
    )
    .action(async (_, command: Command) => {
      if (command.opts()['background'] === true) {
        const { upInBackground } = await import('./commands/background-command.js');
        return act<UpBackgroundFlags>(command, (flags, terminal) => upInBackground(flags, terminal, stdin));
      }
      const { up } = await import('./commands/up-command.js');
      await act<UpFlags>(command, (flags, terminal) => up(flags, terminal, stdin));
    });
}

function addCheck(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'check', 'try the servers and explain each failure')
    .argument('[server...]', 'names of servers; default: all')
    .option('--attempts <n>', 'number of attempts for each server', toAttempts, 1)
    .action(async (servers: string[], _, command: Command) => {
      const { check } = await import('./commands/check-command.js');
      await act<CheckFlags>(command, (flags, terminal) => check(flags, terminal, { servers, stdin }));
    });
}

function addDoctor(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'doctor', 'examine machine, files and servers, and say what to do')
    .argument('[server...]', 'names of servers; default: all')
    .action(async (servers: string[], _, command: Command) => {
      const { doctor } = await import('./commands/doctor-command.js');
      await act(command, (flags, terminal) => doctor(flags, terminal, { servers, stdin }));
    });
}

function addTools(program: Command, reuse: Act, input: CommandInput): void {
  addCommand(program, 'tools', 'list the tools as a model sees them')
    .argument('[server...]', 'names of servers; default: all')
    .addOption(
      new Option('--search <words>', 'print only the tools that match these words, best first').conflicts(
        'tokens',
      ),
    )
    .option('--tokens', 'print how many tokens the definitions take for a model, estimated')
    .option('--schema', 'also print the definition of each tool')
    .action(async (servers: string[], _, command: Command) => {
      await reuse<ToolsFlags>(command, async (flags, terminal) => {
        const { tools } = await import('./commands/tools-command.js');
        return tools(flags, terminal, { servers, ...input });
      });
    });
}

function addCall(program: Command, reuse: Act, input: CommandInput): void {
  addCommand(program, 'call', 'call a tool; starts only its server')
    .argument('<tool>', 'mcp__SERVER__TOOL, SERVER/TOOL, SERVER.TOOL or SERVER TOOL')
    .argument('[args...]', 'a JSON object, - to read it from stdin, or key=value pairs')
    .action(async (tool: string, words: string[], _, command: Command) => {
      await reuse(command, async (flags, terminal) => {
        const { call } = await import('./commands/call-command.js');
        return call(flags, terminal, { tool, words, ...input });
      });
    });
}

function addConfig(program: Command, act: Act): void {
  addCommand(program, 'config', 'show the servers, where each is configured, and which entries it overrides')
    .option('--schema', 'print the JSON Schema of a configuration file')
    .action(async (_, command: Command) => {
      const { config } = await import('./commands/config-command.js');
      await act<ConfigFlags>(command, config);
    });
}

function addImport(program: Command, act: Act): void {
  addCommand(program, 'import', 'write all servers that are found to one file')
    .option('--output <file>', 'file to write', '.mcp.json')
    .option('--force', 'replace an existing file')
    .action(async (_, command: Command) => {
      const { importServers } = await import('./commands/import-command.js');
      await act<ImportFlags>(command, importServers);
    });
}

function addTrust(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'trust', "trust servers from the project's files")
    .argument('[server...]', 'names of servers')
    .option('--all', 'every server that waits for trust; with --revoke, every trusted one of this project')
    .option('--yes', 'trust without asking')
    .addOption(new Option('--revoke', 'stop trusting the server').conflicts('yes'))
    .addOption(new Option('--list', 'list trusted entries').conflicts(['yes', 'revoke']))
    .action(async (servers: string[], _, command: Command) => {
      const { trust } = await import('./commands/trust-command.js');
      await act<TrustFlags>(command, (flags, terminal) => trust(flags, terminal, { servers, stdin }));
    });
}

function addReview(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'review', 'show which tools have changed since they were accepted')
    .argument('[tools...]', 'mcp__SERVER__TOOL, or SERVER/TOOL; default: all tools of all servers')
    .option('--accept', 'accept the tools shown, asking about each')
    .option('--yes', 'accept without asking')
    .action(async (tools: string[], _, command: Command) => {
      const { review } = await import('./commands/review-command.js');
      await act<ReviewFlags>(command, (flags, terminal) => review(flags, terminal, { tools, stdin }));
    });
}

function addLogin(program: Command, act: Act, stdin: NodeJS.ReadableStream): void {
  addCommand(program, 'login', 'sign in to a server in the browser')
    .argument('<server>', 'name of the server')
    .action(async (server: string, _, command: Command) => {
      const { login } = await import('./commands/login-command.js');
      await act(command, (flags, terminal) => login(flags, terminal, server, stdin));
    });
}

function addLogout(program: Command, act: Act): void {
  addCommand(program, 'logout', 'delete the stored sign-in to a server')
    .argument('<server>', 'name of the server')
    .action(async (server: string, _, command: Command) => {
      const { logout } = await import('./commands/logout-command.js');
      await act(command, (flags, terminal) => logout(flags, terminal, server));
    });
}

function addMachine(program: Command, act: Act): void {
  addCommand(program, 'machine', 'print the chart of a state machine')
    .addArgument(new Argument('<machine>', 'name of the machine').choices(MACHINE_NAMES))
    .addOption(
      new Option('--format <format>', 'output format; default: mermaid, or json with --json').choices(
        CHART_FORMATS,
      ),
    )
    .action(async (name: MachineName, _, command: Command) => {
      const { machine } = await import('./commands/machine-command.js');
      await act<MachineFlags>(command, async (flags, terminal) => machine(flags, terminal, name));
    });
}

/** By default, Commander answers `help` of an unknown command with the general help. */
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

/** Reports the error like Commander's own errors. */
function toCommanderError({ message }: UsageError, command: Command): unknown {
  try {
    return command.error(message);
  } catch (error) {
    return error;
  }
}

/** What the server said before it failed; empty if nothing is known, or if the error is about something else. */
async function causeIn(error: unknown): Promise<string> {
  if (!(error instanceof Error) || !('failure' in error)) return '';
  const { causeOf } = await import('./output/failure-report.js');
  return causeOf(error.failure as Failure);
}

async function logFatal(host: Host, gone: AbortSignal, message: string): Promise<void> {
  const { JsonLog } = await import('./output/json-log.js');
  const { systemClock } = await import('../ports.js');
  new JsonLog(new Terminal(host, gone, false), systemClock, false).error(message);
}

function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? '';
}
