/**
 * Compiles the examples of the doc comments against the built package, as a host would, and the programs that the page on
 * migrating starts from against the clients that they use.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 300_000;

/** The names that an example may use without an import or a declaration. */
const GIVEN = ['troupe: Troupe', 'view: View', 'connection: Connection'];

interface Example {
  readonly file: string;
  readonly code: string;
}

function examplesIn(file: string): readonly Example[] {
  const comments = readFileSync(join(ROOT, file), 'utf8').matchAll(/\/\*\*[^]*?\*\//g);
  return [...comments].flatMap(([comment]) =>
    [...comment.replaceAll(/^ *\* ?/gm, '').matchAll(/@example\n```ts\n([^]*?)\n```/g)].map(
      ([, code = '']) => ({ file, code }),
    ),
  );
}

/** Not those of mcp-use, which has 364 packages. */
function programsBefore(): readonly Example[] {
  const file = 'docs/guide/migrating.md';
  const blocks = readFileSync(join(ROOT, file), 'utf8').matchAll(/^```js\n\/\/ before\n(.*?)^```/gms);
  return [...blocks]
    .map(([, code = '']) => ({ file: `${file}.ts`, code }))
    .filter(({ code }) => !code.includes("from 'mcp-use'"));
}

function moduleOf({ code }: Example): string {
  const imports = [...code.matchAll(/^import .*$/gm)].map(([line]) => line);
  const body = code.replaceAll(/^import .*$/gm, '');
  const given = GIVEN.filter((each) => {
    const [name = ''] = each.split(':');
    return new RegExp(`\\b${name}\\b`).test(body) && !new RegExp(`(?:const|using) ${name}\\b`).test(body);
  });
  const types = given.map((each) => each.split(': ')[1]);
  return [
    ...imports,
    ...(types.length === 0 ? [] : [`import type { ${types.join(', ')} } from 'mcp-troupe';`]),
    ...given.map((each) => `declare const ${each};`),
    body,
    'export {};\n',
  ].join('\n');
}

it(
  'compiles every example of a doc comment, and what a host migrates from.',
  { timeout: LIMIT_MS },
  async () => {
    const files = ['src', 'machines'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${folder}/${name}`),
    );
    const programs = programsBefore();
    expect(programs).toHaveLength(3);
    const examples = [...files.flatMap(examplesIn), ...programs];
    expect(examples.length).toBeGreaterThan(30);

    // Inside the project, so that it and other packages resolve by name.
    const folder = mkdtempSync(join(ROOT, 'dist/examples-'));
    try {
      for (const [index, example] of examples.entries()) {
        const name = `${index}-${example.file.replaceAll('/', '-')}`;
        writeFileSync(join(folder, name), moduleOf(example));
      }
      const compilerOptions = { noEmit: true, noUnusedLocals: false, rootDir: ROOT, types: ['node'] };
      const config = {
        extends: join(ROOT, 'tsconfig.json'),
        compilerOptions,
        include: ['./*.ts'],
        exclude: [],
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const outcome = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
        (error: unknown) => error as { readonly stdout: string },
      );
      expect(outcome.stdout).toBe('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
