/** `troupe prompts`: the prompts of the servers, each with its arguments. */
import type { CatalogPrompt } from '../../catalog/prompt.js';
import type { Flags } from '../arguments/flags.js';
import type { ExitCode } from '../exit.js';
import { type Colors, nameOf, oneLine, type Terminal } from '../output/terminal.js';
import { countOf } from '../output/duration.js';
import { listOffers, type ListTarget } from '../with-servers.js';

/** As `listOffers`. */
export function prompts(flags: Flags, terminal: Terminal, target: ListTarget): Promise<ExitCode> {
  return listOffers(flags, terminal, target, (troupe, usable) => {
    const listed = troupe.prompts.filter(({ server }) => usable.includes(server));
    if (flags.json) terminal.printJson('prompts', listed.map(toJson));
    else if (usable.length > 0) terminal.print(render(usable, listed, terminal.colors));
  });
}

/** Every field is present; a value that a prompt does not state is null. */
function toJson({ name, server, prompt, title, description, arguments: args = [] }: CatalogPrompt) {
  return {
    name,
    server,
    prompt,
    title: title ?? null,
    description: description ?? null,
    arguments: args.map((each) => ({
      name: each.name,
      description: each.description ?? null,
      required: each.required === true,
    })),
  };
}

/** Every requested server has its group, even an empty one. */
function render(servers: readonly string[], prompts: readonly CatalogPrompt[], colors: Colors): string {
  return servers
    .map((server) => {
      const own = prompts.filter((each) => each.server === server);
      const title = `${colors.bold(nameOf(server))} ${colors.dim(`(${countOf(own.length, 'prompt')})`)}`;
      return [title, ...own.flatMap((each) => lines(each, colors))].join('\n');
    })
    .join('\n\n');
}

function lines(
  { prompt, title, description, arguments: args = [] }: CatalogPrompt,
  colors: Colors,
): string[] {
  const names = args
    .toSorted((a, b) => Number(b.required === true) - Number(a.required === true))
    .map(({ name, required }) => `${oneLine(name)}${required === true ? '' : '?'}`);
  const text = oneLine(description ?? title ?? '');
  return [
    `  ${colors.cyan(oneLine(prompt))}(${names.join(', ')})`,
    ...(text === '' ? [] : [`      ${colors.dim(text)}`]),
  ];
}
