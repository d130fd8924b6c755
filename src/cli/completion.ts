/** What can be typed next in a command line. Pure, apart from what `Known` looks up. */
import type { Command, Option } from 'commander';
import type { KnownServer } from './cached-offers.js';

export interface Candidate {
  readonly word: string;
  readonly meaning?: string;
}

/** The servers, with the lists of those that are wanted. */
export type LookUp = (wanted: (name: string) => boolean) => Promise<readonly KnownServer[]>;

/** `words` are those after `troupe`; the last one is being typed and may be empty. Empty for the name of a file. */
export async function candidates(
  program: Command,
  words: readonly string[],
  lookUp: LookUp,
): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const { command, operands, open } = placeOf(program, before);
  const [, name = ''] = /^(--[^=]+)=/.exec(typed) ?? [];
  const joined = name === '' || before.includes('--') ? undefined : openedBy(name, program, command);
  const found =
    open !== undefined
      ? await valuesOf(open, lookUp)
      : joined !== undefined
        ? (await valuesOf(joined, lookUp)).map(({ word }) => ({ word: `${name}=${word}` }))
        : typed.startsWith('-') && !before.includes('--')
          ? optionsOf(program, command)
          : command === undefined
            ? commandsOf(program)
            : await operandsOf(program, command, operands, lookUp);
  return found.filter(({ word }) => word.startsWith(typed) && !/[\n\t]/.test(word));
}

interface Placed {
  readonly command: Command | undefined;
  /** The words of the command that are not options. */
  readonly operands: readonly string[];
  /** The option whose value comes next. */
  readonly open: Option | undefined;
}

function placeOf(program: Command, before: readonly string[]): Placed {
  let command: Command | undefined;
  let open: Option | undefined;
  const operands: string[] = [];
  let isOver = false;
  for (const word of before) {
    if (open !== undefined) open = undefined;
    else if (!isOver && word === '--') isOver = true;
    else if (!isOver && word.startsWith('-')) open = openedBy(word, program, command);
    else if (command === undefined) {
      command = program.commands.find((each) => each.name() === word);
      if (command === undefined) break;
    } else operands.push(word);
  }
  return { command, operands, open };
}

function openedBy(word: string, program: Command, command: Command | undefined): Option | undefined {
  const known = [...program.options, ...(command?.options ?? [])];
  return known.find((option) => option.required && option.long === word);
}

function optionsOf(program: Command, command: Command | undefined): readonly Candidate[] {
  const options = [...(command?.options ?? []), ...program.options];
  const help = { word: '--help', meaning: 'display help' };
  return [
    ...options.flatMap(({ long, description }) => (long ? [{ word: long, meaning: description }] : [])),
    help,
  ];
}

function commandsOf(program: Command): readonly Candidate[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ word: command.name(), meaning: command.description() }));
}

async function valuesOf({ long, argChoices }: Option, lookUp: LookUp): Promise<readonly Candidate[]> {
  if (argChoices !== undefined) return argChoices.map((word) => ({ word }));
  return long === '--server' || long === '--cli' ? serversOf(await lookUp(() => false)) : [];
}

/** What an argument of this name stands for. */
async function operandsOf(
  program: Command,
  command: Command,
  operands: readonly string[],
  lookUp: LookUp,
): Promise<readonly Candidate[]> {
  const declared = command.registeredArguments;
  const argument = declared[operands.length] ?? declared.findLast(({ variadic }) => variadic);
  if (argument?.argChoices !== undefined) return argument.argChoices.map((word) => ({ word }));
  const [first] = operands;
  switch (argument?.name()) {
    case 'server':
      // The name of a new server is nobody's.
      if (command.name() === 'add') return [];
      return serversOf(await lookUp(() => false)).filter(({ word }) => !operands.includes(word));
    case 'command':
      return commandsOf(program);
    case 'uri':
      return (await lookUp(() => true)).flatMap(({ lists }) =>
        (lists?.resources ?? []).map(({ uri, name }) => ({ word: uri, meaning: name })),
      );
    case 'tool':
    case 'tools':
      return offers(await lookUp(() => true), 'tools');
    case 'prompt':
      return offers(await lookUp(() => true), 'prompts');
    case 'args': {
      const kind = command.name() === 'prompt' ? 'prompts' : 'tools';
      return operands.length === 1 && first !== undefined
        ? argumentsOf(await lookUp((name) => name === first || first.startsWith(`${name}/`)), kind, first)
        : [];
    }
    default:
      return [];
  }
}

function serversOf(servers: readonly KnownServer[]): readonly Candidate[] {
  return servers.map(({ name }) => ({ word: name }));
}

type Kind = 'tools' | 'prompts';

function offers(servers: readonly KnownServer[], kind: Kind): readonly Candidate[] {
  return servers.flatMap(({ name, lists }) =>
    (lists?.[kind] ?? []).map((each) => described(`${name}/${each.name}`, each.description)),
  );
}

/** After a server: what it offers. After a tool: the names of its arguments. */
function argumentsOf(servers: readonly KnownServer[], kind: Kind, first: string): readonly Candidate[] {
  const server = servers.find(({ name }) => name === first);
  if (server !== undefined)
    return (server.lists?.[kind] ?? []).map((each) => described(each.name, each.description));
  return servers.flatMap(({ name, lists }) => {
    const raw = first.slice(name.length + 1);
    const tool = lists?.tools.find((each) => each.name === raw);
    const prompt = lists?.prompts?.find((each) => each.name === raw);
    const names =
      kind === 'tools'
        ? Object.keys(tool?.inputSchema.properties ?? {})
        : (prompt?.arguments ?? []).map((each) => each.name);
    return names.map((each) => ({ word: `${each}=` }));
  });
}

function described(word: string, description: string | undefined): Candidate {
  return description === undefined ? { word } : { word, meaning: description };
}
