/** What `troupe generate` writes is compiled under strict TypeScript, and used with the real servers. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { toolsModule, type DescribedTool } from '../../../src/catalog/tool-types.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { readCatalogue } from '../../../tools/search-evaluation/evaluate.mjs';
import { useLeakCheck } from '../../support/leak-check.js';
import { EVERYTHING, filesIn, MISSING, useTeam } from '../../support/team.js';
import { runTroupe, TroupeProcess } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const LIMIT_MS = 60_000;

/** Names that collide, that are no identifiers, or that JavaScript knows; schemas that refer to themselves. */
const HOSTILE: readonly DescribedTool[] = [
  ...[
    'read-file',
    'read_file',
    'readText',
    'read_text',
    'then',
    'toJSON',
    '__proto__',
    'constructor',
    '1',
    '',
    '*/ x',
    'größe',
  ],
].map((tool) => ({
  server: 'odd-one',
  tool,
  description: 'ends */ a comment\r\n`${here}`\u2028 \u202E',
  inputSchema: JSON.parse(
    `{"type":"object","properties":{"__proto__":{"type":"string"},"a b":{"$ref":"#/$defs/x"},"self":{"$ref":"#"},
      "list":{"type":"array","prefixItems":[{"const":"*/"},{"enum":["\\u2028",1,null]}]},
      "many":{"enum":[${Array.from({ length: 1_000 }, (_, at) => at).join(',')}]},
      "remote":{"$ref":"https://example.com/x.json"},"never":false,"any":true},
      "required":["never"],"anyOf":[{"required":["self"]},{"required":["list"]}],
      "$defs":{"x":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"object","properties":{"next":{"$ref":"#/$defs/x"}}}]}}}`,
  ) as DescribedTool['inputSchema'],
  outputSchema: { type: 'object', properties: { x: { $ref: '#' } } } as DescribedTool['inputSchema'],
}));

const HOST = `import { createTroupe, type TypedTools } from 'mcp-troupe';
import type { Tools } from './tools.js';
import type { Tools as Published } from './published.js';

const troupe = createTroupe({ config: process.argv[2] ?? '' });
await troupe.start();
const { memory, fs, everything } = troupe.typed<Tools>();

const made = await memory.createEntities({ entities: [{ name: 'Ada', entityType: 'person', observations: ['x'] }] as const });
const graph = await memory.readGraph();
const names: string[] = graph.structuredContent?.entities.map(({ name }) => name) ?? [];
const { content } = await memory['search_nodes']({ query: 'Ada' }, { timeoutMs: 10_000 });
const sum = await everything.getSum({ a: 2, b: 3 });
const listed = await troupe.view({ servers: ['fs'] }).typed<Tools>().fs.listAllowedDirectories({});
const typed = await troupe.callTool<Tools['memory']['read_graph']>('mcp__memory__read_graph', {});
const relations: number | undefined = typed.structuredContent?.relations.length;
export type AirbnbSearch = Parameters<TypedTools<Published>['airbnb']['airbnbSearch']>[0];
const isThenable: unknown = await troupe.typed<Tools>() === undefined;
console.log(JSON.stringify({ made: made.isError ?? false, names, content: content.length, sum: sum.content, listed: listed.isError ?? false, relations, isThenable }));
await troupe.close();

`;

/** Each line with `wrong` has to be an error, and no other. */
const MISUSES = `import type { Troupe } from 'mcp-troupe';
import type { Tools } from './tools.js';
import type { Tools as Hostile } from './hostile.js';

declare const troupe: Troupe;
const { memory } = troupe.typed<Tools>();
const graph = await memory.readGraph();
await memory.searchNodes({}); // wrong: a missing argument
await memory.searchNodes({ query: 1 }); // wrong: an argument of another type
await memory.searchNodes({ query: 'a', limit: 1 }); // wrong: an argument that is not known
await memory.searchNodes(); // wrong: no arguments at all
await memory.searchNode({ query: 'a' }); // wrong: a tool that is not known
troupe.typed<Tools>().memry; // wrong: a server that is not known
graph.structuredContent?.entity; // wrong: a field that is not known
const odd = troupe.typed<Hostile>()['oddOne'];
await odd['read-file']({ never: undefined as never, self: { never: undefined as never, list: [] } });
odd.readFile; // wrong: two tools have this name
odd.then; // wrong: the exact name of another tool
await odd.readText({ never: undefined as never, list: ['*/', 1] });
`;

function run(file: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [file, ...args],
      { cwd: team().folder, timeout: LIMIT_MS },
      (error, stdout, stderr) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : Number(error !== null),
          output: stdout + stderr,
        }),
    );
  });
}

describe('troupe generate', () => {
  let config = '';

  beforeAll(() => {
    const { folder } = team();
    const memory = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');
    config = team().write('three.json', {
      memory: {
        command: process.execPath,
        args: [memory],
        env: { MEMORY_FILE_PATH: join(folder, 'graph.json') },
      },
      fs: filesIn(folder),
      everything: EVERYTHING,
    });
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules/mcp-troupe'));
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });

  it(
    'writes types that compile under strict TypeScript, and fit the servers when the code runs.',
    async () => {
      const { folder } = team();
      const out = join(folder, 'tools.ts');
      const { code, stdout, stderr } = await runTroupe(['generate', '--config', config, '--out', out]);
      expect([code, stdout]).toEqual([0, '']);
      expect(stderr).toMatch(/tools\.ts: \d+ tools\n$/);
      expect(statSync(out).mode & 0o777).toBe(0o644);
      writeFileSync(join(folder, 'hostile.ts'), toolsModule(HOSTILE));
      writeFileSync(
        join(folder, 'published.ts'),
        toolsModule((await readCatalogue()) as readonly DescribedTool[]),
      );
      writeFileSync(join(folder, 'host.ts'), HOST);
      writeFileSync(
        join(folder, 'required.cts'),
        "import type { TypedTools } from 'mcp-troupe';\nexport type A = TypedTools<{ a: { b: { args: object } } }>['a']['b'];\n",
      );
      const compilerOptions = {
        ...{
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          skipLibCheck: true,
        },
        ...{
          noPropertyAccessFromIndexSignature: true,
          target: 'es2023',
          module: 'nodenext',
          types: ['node'],
        },
      };
      const files = ['host.ts', 'hostile.ts', 'published.ts', 'tools.ts', 'required.cts'];
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      expect(await run(TSC, ['-p', '.'])).toEqual({ code: 0, output: '' });
      writeFileSync(join(folder, 'misuses.ts'), MISUSES);
      writeFileSync(join(folder, 'misuses.json'), JSON.stringify({ compilerOptions, files: ['misuses.ts'] }));
      const { output } = await run(TSC, ['-p', 'misuses.json', '--noEmit', '--pretty', 'false']);
      const found = [...output.matchAll(/^misuses\.ts\((\d+),/gm)].map(([, line]) => Number(line));
      const wrong = MISUSES.split('\n').flatMap((line, at) => (line.includes('// wrong') ? [at + 1] : []));
      expect([...new Set(found)], output).toEqual(wrong);
      const ran = await run('host.js', [config]);
      expect(ran.output.split('\n')[0]).toBe(
        JSON.stringify({
          ...{
            made: false,
            names: ['Ada'],
            content: 1,
            sum: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }],
          },
          ...{ listed: false, relations: 0, isThenable: false },
        }),
      );
      expect(ran.code).toBe(0);
    },
    LIMIT_MS,
  );

  it('writes the same file again, and prints it without --out.', async () => {
    const out = join(team().folder, 'one.ts');
    const args = ['generate', 'memory', '--config', config];
    await runTroupe([...args, '--out', out]);
    const text = readFileSync(out, 'utf8');
    const again = await runTroupe([...args, '--out', out, '--json']);
    expect(JSON.parse(again.stdout)).toEqual({ tools: 9, file: out, changed: false });
    expect((await runTroupe(args)).stdout).toBe(text);
    expect(text).toContain("// Written by 'troupe generate memory'.");
  });

  it('--check tells changes from servers that cannot be reached.', async () => {
    const out = join(team().folder, 'checked.ts');
    await runTroupe(['generate', 'memory', '--config', config, '--out', out]);
    const check = ['generate', '--check', '--out', out];
    expect(await runTroupe([...check, '--config', config])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('fits 9 tools'),
    });
    writeFileSync(
      out,
      readFileSync(out, 'utf8')
        .replace(/^.*"open_nodes".*\n/m, '')
        .replace('["query",true,"string"]', '["query",false,"number"]'),
    );
    const changed = await runTroupe([...check, '--config', config]);
    expect(changed.code).toBe(1);
    expect(changed.stdout).toBe(
      [
        'memory/open_nodes: is new',
        'memory/search_nodes: argument "query" is required now',
        'memory/search_nodes: argument "query" was number, is string',
        '',
      ].join('\n'),
    );
    const missing = team().write('missing.json', { memory: MISSING });
    const { code, stdout, stderr } = await runTroupe([...check, '--config', missing, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([1, { fits: false, changes: [], notCompared: ['memory'] }]);
    expect(stderr).toContain('command-not-found');
  });

  it.each([
    [['--check'], 'needs --out'],
    [['--cli', 'memory'], 'needs --out'],
    [['--check', '--out', 'no-such-file.ts'], 'does not exist'],
    [['--out', 'package.json'], 'has not written it'],
    [['--check', '--out', 'package.json'], "is not from 'troupe generate'"],
    [['memry'], "did you mean 'memory'"],
    [['--add', 'added=node x.js', '--cli', 'added', '--out', 'x.mjs'], 'troupe add'],
  ])('refuses %j.', async (words, message) => {
    const options = { cwd: team().folder };
    const { code, stderr } = await runTroupe(['generate', '--config', config, ...words], options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('writes nothing if a server is not ready.', async () => {
    const out = join(team().folder, 'none.ts');
    const some = team().write('some.json', { everything: EVERYTHING, missing: MISSING });
    expect((await runTroupe(['generate', '--config', some, '--out', out])).code).toBe(1);
    expect(() => statSync(out)).toThrow('ENOENT');
  });
});

describe('troupe generate --cli', () => {
  it('writes a command that calls the tools of the server, and holds no secret of its entry.', async () => {
    const { folder } = team();
    const config = team().write('secret.json', {
      everything: { ...EVERYTHING, env: { TOKEN: 'secret-value' } },
      missing: MISSING,
    });
    const out = join(folder, 'everything.mjs');
    const made = await runTroupe(['generate', '--cli', 'everything', '--config', config, '--out', out]);
    expect(made.code).toBe(0);
    expect(statSync(out).mode & 0o777).toBe(0o755);
    const text = readFileSync(out, 'utf8');
    expect(text).not.toMatch(/secret-value|node_modules|\/tmp/);
    expect(text).toContain('const FILES = ["secret.json"];');

    const command = (...args: string[]) => TroupeProcess.startScript(out, args).finished();
    expect(await command('get-sum', '--a', '2', '--b=-3')).toMatchObject({
      code: 0,
      stdout: 'The sum of 2 and -3 is -1.\n',
      stderr: '',
    });
    const json = await command('get-structured-content', '--location', 'Chicago', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ structuredContent: { temperature: expect.any(Number) } });
    expect(await command('echo', '--args', '{"message":"hi"}')).toMatchObject({
      code: 0,
      stdout: 'Echo: hi\n',
    });
    expect(await command('get-sum', '--a', 'x', '--b', '1')).toMatchObject({ code: 2, stdout: '' });
    expect(await command('get-sum', '--a', '1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--b is required'),
    });
    expect(await command('get-sm')).toMatchObject({ code: 2 });
    expect((await command('--help')).stdout).toContain('get-structured-content');
    expect((await command('get-sum', '--help')).stdout).toMatch(/--a NUMBER .*\(required\)/);
    expect(await command('get-structured-content', '--location', 'nowhere')).toMatchObject({ code: 1 });
  });
});

describe('a typed client', () => {
  it('finds no tool of a misspelt name, and says which one may be meant.', async () => {
    const troupe = createTroupe({ servers: { everything: EVERYTHING } });
    try {
      await troupe.start();
      const tools = troupe.typed<Record<string, Record<string, { args: object }>>>();
      await expect(tools['everythin']?.['echo']?.({})).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
      await expect(tools['everything']?.['getSun']?.({})).rejects.toThrow(
        "Did you mean 'mcp__everything__get-sum'?",
      );
      await expect(tools['everything']?.['getSum']?.({ a: 'x' })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENTS',
      });
    } finally {
      await troupe.close();
    }
  });
});
