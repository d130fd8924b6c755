import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfigText } from '../../../../src/config/files/parse-config.js';
import { isError } from '../../../../src/config/entry/problem.js';
import { problemLine } from '../../../support/problem-line.js';

const parse = (text: string) => parseConfigText(text, 'kit.json');
const lines = (text: string) => parse(text).problems.map(problemLine);
const messages = (text: string) => parse(text).problems.map(({ message }) => message);
const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.mcp.json`, import.meta.url), 'utf8');

const LAMP = '{ "command": "lamp" }';

describe('a configuration text', () => {
  it('may contain comments and trailing commas, and leaves comment signs inside strings alone', () => {
    const { entries, problems } = parse(fixture('comments-and-commas'));
    expect(entries.map(({ name }) => name)).toEqual(['hall', 'yard']);
    expect(entries[1]?.config).toMatchObject({ env: { NOTE: 'not // a comment, nor /* this */' } });
    expect(problems).toEqual([]);
  });

  it('may start with a byte order mark, which no column counts', () => {
    const { entries, problems } = parse(fixture('with-bom'));
    expect(entries).toMatchObject([{ name: 'hall', line: 1, column: 16 }]);
    expect(problems).toEqual([]);
  });

  it.each(['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'mcp'])(
    'may have its servers under %s',
    (key) => {
      const { entries, problems } = parse(`{ "other": [1], "${key}": { "hall": ${LAMP} } }`);
      expect(entries).toMatchObject([{ name: 'hall', config: { type: 'stdio', command: 'lamp' } }]);
      expect(problems).toEqual([]);
    },
  );

  it('may have its servers one level below mcp, beside inputs', () => {
    const { entries, problems } = parse(`{ "mcp": { "inputs": [], "servers": { "hall": ${LAMP} } } }`);
    expect(entries).toMatchObject([{ name: 'hall' }]);
    expect(problems).toEqual([]);
  });

  it('may have a server called "servers" below mcp', () => {
    expect(parse(`{ "mcp": { "servers": ${LAMP} } }`).entries).toMatchObject([{ name: 'servers' }]);
  });

  it('is read under every key it uses', () => {
    const { entries } = parse(
      `{ "mcpServers": { "hall": ${LAMP} }, "servers": { "yard": { "url": "http://x/" } } }`,
    );
    expect(entries.map(({ name }) => name)).toEqual(['hall', 'yard']);
  });

  it('has line and column of every entry, whatever its line endings are', () => {
    const text = ['{ "mcpServers": {', `  "a": ${LAMP},`, `    "b": ${LAMP}`, '} }'];
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      expect(parse(text.join(lineEnd)).entries).toMatchObject([
        { name: 'a', line: 2, column: 3 },
        { name: 'b', line: 3, column: 5 },
      ]);
    }
  });

  it('may have servers with the names of inherited properties', () => {
    const names = ['constructor', 'toString', 'hasOwnProperty'];
    const text = `{ "mcpServers": { ${names.map((name) => `"${name}": ${LAMP}`).join(', ')} } }`;
    expect(parse(text).entries.map(({ name }) => name)).toEqual(names);
    expect({}).not.toHaveProperty('command');
  });
});

describe('a text with twenty thousand mistakes', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `"K${index}": []`).join(',\n');

  it.each([
    ['of another host in one entry', 1, `{ "context_servers": { "a": { "command": "x",\n${many}\n} } }`],
    ['in as many entries', 20_000, `{ "mcpServers": {\n${many}\n} }`],
  ])('is read in time proportional to its size: %s', (_, count, text) => {
    const { problems } = parse(text);
    expect(problems).toHaveLength(count);
    expect(problems.at(-1)).toMatchObject({ line: count + 1, column: 1 });
  });
});

describe('a field named __proto__', () => {
  it('sets no field of the entry, and is reported', () => {
    const unused = "field '__proto__': unused-field";
    const alone = parse('{ "mcpServers": { "a": { "__proto__": { "command": "lamp" } } } }');
    expect(alone).toMatchObject({ entries: [], refused: ['a'] });
    expect(alone.problems.map(problemLine)).toContainEqual(expect.stringContaining(unused));
    const beside = parse('{ "mcpServers": { "a": { "command": "lamp", "__proto__": { "cwd": "/" } } } }');
    expect(beside.entries).toMatchObject([{ config: { command: 'lamp' } }]);
    expect(beside.entries[0]?.config).not.toHaveProperty('cwd');
    expect(beside.problems.map(problemLine)).toEqual([expect.stringContaining(unused)]);
  });
});

describe('a text without servers is an error with a reason', () => {
  it.each([
    ['', 'kit.json:1:1: empty-file'],
    ['  \n// nothing\n', 'kit.json:1:1: empty-file'],
    ['\uFEFF', 'kit.json:1:1: empty-file'],
    ['/* open', 'kit.json:1:1: syntax-error'],
    ['{ "mcpServers": ', 'kit.json:1:16: syntax-error'],
    ['{ "mcpServers": {\n  "a": {}\n', 'kit.json:2:10: syntax-error'],
    ['{ "mcpServers": { "a": { "args": [1', 'kit.json:1:36: syntax-error'],
    ['{ "a" 1 }', 'kit.json:1:7: syntax-error'],
    ['{ "a": 1 "b": 2 }', 'kit.json:1:10: syntax-error'],
    ["{ 'a': 1 }", 'kit.json:1:3: syntax-error'],
    ['{ a: 1 }', 'kit.json:1:3: syntax-error'],
    ['{ "a": "C:\\Users" }', 'kit.json:1:8: syntax-error'],
    ['{ "a": "x\ny" }', 'kit.json:1:8: syntax-error'],
    ['{} {}', 'kit.json:1:4: syntax-error'],
    ['['.repeat(100_000), 'kit.json:1:1: too-complex'],
    [`${'['.repeat(300)}${']'.repeat(300)}`, 'kit.json:1:1: too-complex'],
    ['[]', 'kit.json:1:1: no-servers'],
    ['"text"', 'kit.json:1:1: no-servers'],
    ['null', 'kit.json:1:1: no-servers'],
  ])('%j', (text, line) => {
    const { entries, problems } = parse(text);
    expect(entries).toEqual([]);
    expect(problems.map(problemLine)).toEqual([line]);
    expect(problems.every(isError)).toBe(true);
  });

  it('and with the position if a file was cut short', () => {
    const [line, ...more] = lines(fixture('cut-short'));
    expect(line).toMatch(/^kit\.json:3:\d+: syntax-error$/);
    expect(more).toEqual([]);
  });

  it('and with the expected and the found keys', () => {
    const [message] = messages('{ "theme": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6 }');
    for (const key of ['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'mcp']) {
      expect(message).toContain(`'${key}'`);
    }
    expect(message).toMatch(/only 'theme', 'b', 'c', 'd', 'e', …$/);
  });

  it.each([
    ['{}', /empty/],
    ['{ "mcpServer": {} }', /'mcpServers'\?$/],
    ['{ "MCPServers": {} }', /'mcpServers'\?$/],
    ['{ "mcp-servers": {} }', /'mcp[^']*'\?$/],
    [LAMP, /\{ "mcpServers": \{ "NAME"/],
    ['{ "url": "https://example.com/mcp" }', /\{ "mcpServers": \{ "NAME"/],
    [`{ "hall": ${LAMP}, "yard": ${LAMP} }`, /\{ "mcpServers": \{ "NAME"/],
    ['{ "hall": { "serverUrl": "https://example.com/mcp" } }', /\{ "mcpServers": \{ "NAME"/],
  ])('and with a hint: %j', (text, hint) => {
    expect(parse(text).entries).toEqual([]);
    expect(lines(text)).toEqual(['kit.json:1:1: no-servers']);
    expect(messages(text)).toEqual([expect.stringMatching(hint)]);
  });

  it.each(['[]', '"x"', 'null', '7'])('if there is %s instead of the entries', (value) => {
    expect(lines(`{ "mcpServers": ${value} }`)).toEqual(["kit.json:1:3: field 'mcpServers': wrong-type"]);
  });

  it('if there are the fields of one server instead of the entries', () => {
    expect(lines(`{ "mcpServers": ${LAMP} }`)).toEqual(["kit.json:1:3: field 'mcpServers': unnamed-server"]);
  });

  it('but only a warning if the list is empty', () => {
    const { problems } = parse('{ "mcpServers": {} }');
    expect(problems).toMatchObject([{ code: 'no-servers', severity: 'warning', field: 'mcpServers' }]);
  });
});

describe('one invalid entry', () => {
  it('is refused with name, field, expectation and position, and the others are used', () => {
    const { entries, refused } = parse(fixture('one-wrong-entry'));
    expect(entries.map(({ name }) => name)).toEqual(['hall']);
    expect(refused).toEqual(['wrong-command', 'wrong-args', 'empty-entry', 'not-an-object']);
    expect(lines(fixture('one-wrong-entry'))).toEqual([
      "kit.json:4:24: server 'wrong-command', field 'command': wrong-type",
      "kit.json:5:40: server 'wrong-args', field 'args': wrong-type",
      "kit.json:6:5: server 'empty-entry': missing-target",
      "kit.json:7:5: server 'not-an-object': wrong-type",
    ]);
  });

  it('is refused if its fields contradict each other', () => {
    const { entries, refused } = parse(fixture('url-and-command'));
    expect(entries.map(({ name }) => name)).toEqual(['hall']);
    expect(refused).toEqual(['both', 'stdio-with-url', 'strange-type']);
    expect(parse(fixture('url-and-command')).problems.filter(isError)).toMatchObject([
      { server: 'both', code: 'conflicting-fields' },
      { server: 'stdio-with-url', code: 'missing-target' },
      { server: 'strange-type', code: 'unknown-value' },
    ]);
  });

  it('is located at the item of a list and at the name of a variable', () => {
    const text =
      '{ "mcpServers": { "a": {\n "command": "x",\n "args": ["y",\n []],\n "env": { "N": {} } } } }';
    expect(lines(text)).toEqual([
      "kit.json:4:2: server 'a', field 'args[1]': wrong-type",
      "kit.json:5:11: server 'a', field 'env.N': wrong-type",
    ]);
  });

  it('is located under the alias it was written with', () => {
    const text = '{ "mcp": { "a": {\n "command": ["x", "y"],\n "environment": {\n "N": [] } } } }';
    expect(lines(text)).toEqual(["kit.json:4:2: server 'a', field 'environment.N': wrong-type"]);
  });
});

describe('a duplicate name', () => {
  it('is reported with its position, and the later server wins', () => {
    const text = '{ "mcpServers": {\n "a": { "command": "first" },\n "a": { "command": "second" } } }';
    const { entries, problems } = parse(text);
    expect(entries).toMatchObject([{ name: 'a', config: { command: 'second' }, line: 3 }]);
    expect(problems).toMatchObject([
      {
        code: 'repeated-name',
        source: 'kit.json',
        severity: 'warning',
        server: 'a',
        line: 3,
        column: 2,
      },
    ]);
  });

  it('is reported inside an entry, at any depth', () => {
    const text =
      '{ "mcpServers": { "a": { "command": "x", "command": "y", "env": { "N": "1", "N": "2" }, "more": [{ "k": 1, "k": 2 }] } } }';
    const { entries, problems } = parse(text);
    expect(entries).toMatchObject([{ config: { command: 'y', env: { N: '2' } } }]);
    expect(problems.map(({ field }) => field)).toEqual(['command', 'env.N', 'more[0].k', 'more']);
  });

  it('is reported for a key that contains servers, and for one server under two keys', () => {
    expect(lines('{ "mcpServers": {}, "mcpServers": { "a": { "command": "x" } } }')).toEqual([
      "kit.json:1:21: field 'mcpServers': repeated-name",
    ]);
    expect(lines(`{ "mcpServers": { "a": ${LAMP} }, "servers": { "a": ${LAMP} } }`)).toEqual([
      expect.stringMatching(/server 'a': repeated-name$/),
    ]);
  });

  it('gives problems the position of the value that is used', () => {
    const text = '{ "mcpServers": { "a": {\n "command": "x",\n "command": 7 } } }';
    const { problems } = parse(text);
    expect(problems.filter(isError)).toMatchObject([{ field: 'command', line: 3 }]);
  });
});

describe('for any text', () => {
  it('the result is entries or at least one error, and never an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        const { entries, problems } = parse(text);
        expect(entries.length > 0 || problems.some(isError)).toBe(true);
      }),
    );
  });

  it('a valid file that is cut anywhere gives no entries', () => {
    const text = fixture('reload-before').trimEnd();
    for (let end = 0; end < text.length; end++) {
      const { entries, problems } = parse(text.slice(0, end));
      expect(entries).toEqual([]);
      expect(problems.some(isError)).toBe(true);
    }
  });
});
