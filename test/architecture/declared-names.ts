/**
 * Which declarations a declaration needs, over the emitted `.d.ts` files.
 *
 * Owns: the walk from what an entry point exports to every type of this package that its users may have to name.
 * Does not own: types of other packages (they are named through their own package), base classes and `typeof x`
 * (never named by a user).
 */
import { posix } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** A name in a file: `connection.events.d.ts#ConnectionInput`. */
type Declaration = `${string}#${string}`;

interface Reference {
  readonly name: string;
  readonly at: number;
  /** The specifier of `import('x').Name`; null for a name of the file. */
  readonly from: string | null;
}

interface DeclarationFile {
  readonly declared: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
  readonly references: readonly Reference[];
  /** Names from other files, imported or re-exported: the specifier and the name there. */
  readonly foreign: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
  readonly exported: ReadonlySet<string>;
}

function readDeclarations(path: string, text: string): DeclarationFile {
  const { program, module } = parseSync(path, text);
  const declared = new Map<string, { start: number; end: number }>();
  for (const node of program.body) {
    const declaration = node.type === 'ExportNamedDeclaration' && node.declaration ? node.declaration : node;
    const { start, end } = declaration;
    if (declaration.type === 'VariableDeclaration') {
      for (const { id } of declaration.declarations) {
        if (id.type === 'Identifier') declared.set(id.name, { start, end });
      }
    } else if ('id' in declaration && declaration.id?.type === 'Identifier') {
      declared.set(declaration.id.name, { start, end });
    }
  }

  const references: Reference[] = [];
  const refer = (node: object, at: number, from: string | null = null): void => {
    if ('name' in node && typeof node.name === 'string') references.push({ name: node.name, at, from });
  };
  new Visitor({
    TSTypeReference: ({ typeName, start }) => refer(typeName, start),
    TSInterfaceHeritage: ({ expression, start }) => refer(expression, start),
    TSClassImplements: ({ expression, start }) => refer(expression, start),
    TSImportType: ({ qualifier, source, start }) => {
      if (qualifier) refer(qualifier, start, source.value);
    },
  }).visit(program);

  const foreign = new Map<string, { from: string; name: string }>();
  for (const { moduleRequest, entries } of module.staticImports) {
    for (const { importName, localName } of entries) {
      foreign.set(localName.value, { from: moduleRequest.value, name: importName.name ?? '*' });
    }
  }
  const exported = new Set<string>();
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, importName, exportName } of entries) {
      const name = exportName.name ?? '*';
      exported.add(name);
      if (moduleRequest) foreign.set(name, { from: moduleRequest.value, name: importName.name ?? '*' });
    }
  }
  return { declared, references, foreign, exported };
}

/**
 * Names in the declarations of `entry` that users can import neither from it nor from one of `others`, each as
 * `file#Name, needed by file#Name`. A name counts as exported only if the same declaration is exported.
 */
export function forgottenExports(
  files: ReadonlyMap<string, string>,
  entry: string,
  others: readonly string[] = [],
): string[] {
  const read = new Map([...files].map(([path, text]) => [path, readDeclarations(path, text)]));

  /** Follows imports and re-exports to the declaration of a name; null for a name of another package or a global. */
  const find = (path: string, name: string): Declaration | null => {
    const file = read.get(path);
    if (file === undefined) return null;
    if (file.declared.has(name)) return `${path}#${name}`;
    const elsewhere = file.foreign.get(name);
    return elsewhere === undefined ? null : find(resolve(path, elsewhere.from), elsewhere.name);
  };

  const namedBy = (path: string): (Declaration | null)[] =>
    [...read.get(path)!.exported].map((name) => find(path, name));
  const exported = namedBy(entry);
  const named = new Set([...exported, ...others.flatMap(namedBy)]);
  const neededBy = new Map<Declaration, string>();
  for (const declaration of exported) if (declaration !== null) neededBy.set(declaration, entry);
  for (const [declaration] of neededBy) {
    const [path, name] = declaration.split('#') as [string, string];
    const { declared, references } = read.get(path)!;
    const { start, end } = declared.get(name)!;
    for (const reference of references) {
      if (reference.at < start || reference.at > end) continue;
      const target = find(reference.from === null ? path : resolve(path, reference.from), reference.name);
      if (target !== null && !neededBy.has(target)) neededBy.set(target, declaration);
    }
  }
  return [...neededBy]
    .filter(([declaration]) => !named.has(declaration))
    .map(([declaration, user]) => `${declaration}, needed by ${user}`)
    .toSorted();
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.d.ts');
}
