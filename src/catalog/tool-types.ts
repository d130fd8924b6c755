/** The types of tools in TypeScript, as `Troupe.typed` takes them. Pure: the same tools always give the same text. */
import { docComment, keyText, typeName, typesOf, type TypeDeclaration } from '../schemas/type-text.js';
import { compareText } from '../text/visible-text.js';
import type { CatalogTool } from './registry.js';
import { camelNames } from './tool-methods.js';

/** What a type is made of. */
export type DescribedTool = Pick<
  CatalogTool,
  'server' | 'tool' | 'title' | 'description' | 'inputSchema' | 'outputSchema'
>;

/** The types of one tool: first the type of its arguments or its result, then the types that it refers to. */
export interface TypesOfTool {
  readonly args: readonly TypeDeclaration[];
  /** Empty without an output schema. */
  readonly output: readonly TypeDeclaration[];
}

/** A name that is like the wanted one, and that was not given before. */
export function uniqueNames(taken: readonly string[] = []): (wanted: string) => string {
  const given = new Set(taken);
  return (wanted) => {
    let name = wanted;
    for (let count = 2; given.has(name); count += 1) name = `${wanted}${count}`;
    given.add(name);
    return name;
  };
}

export function typesOfTool(
  { server, tool, inputSchema, outputSchema }: DescribedTool,
  claim: (wanted: string) => string,
  hasDocs = true,
): TypesOfTool {
  const write = (schema: DescribedTool['inputSchema'], last: string, isWritten: boolean) =>
    typesOf(schema, { name: claim(typeName(server, tool, last)), isWritten, claim, hasDocs });
  return {
    args: write(inputSchema, 'arguments', true),
    output: outputSchema === undefined ? [] : write(outputSchema, 'output', false),
  };
}

/** The tools of each server, both in the order of their names. */
export function byServer<T extends DescribedTool>(tools: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const sorted = tools.toSorted((a, b) => compareText(a.server, b.server) || compareText(a.tool, b.tool));
  const groups = new Map<string, T[]>();
  for (const tool of sorted) groups.set(tool.server, [...(groups.get(tool.server) ?? []), tool]);
  return groups;
}

/** A module with the type `Tools`, and those that it consists of. */
export function toolsModule(tools: readonly DescribedTool[]): string {
  const claim = uniqueNames(['Tools']);
  const declarations: string[] = [];
  const servers = [...byServer(tools)].map(([server, own]) => {
    const aliases = camelNames(own.map(({ tool }) => tool));
    const members = own.map((tool) => {
      const { args, output } = typesOfTool(tool, claim);
      for (const { name, text } of [...args, ...output])
        declarations.push(`export type ${name} = ${text};\n`);
      const fields = [
        `args: ${args[0]?.name}`,
        ...output.slice(0, 1).map(({ name }) => `output: ${name}`),
        ...(aliases.get(tool.tool) === undefined ? ['exact: true'] : []),
      ];
      const { description = tool.title } = tool;
      return `${docComment(description, '    ')}    readonly ${keyText(tool.tool)}: { ${fields.join('; ')} };\n`;
    });
    return `  readonly ${keyText(server)}: {\n${members.join('')}  };\n`;
  });
  const doc = '/** The tools by server and name, for `troupe.typed<Tools>()`. */\n';
  return [`${doc}export type Tools = {\n${servers.join('')}};\n`, ...declarations].join('\n');
}
