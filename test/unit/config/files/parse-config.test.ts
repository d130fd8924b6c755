import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfigText } from '../../../../src/config/files/parse-config.js';
import { describeProblem, isError } from '../../../../src/config/entry/problem.js';

const parse = (text: string) => parseConfigText(text, 'kit.json');
const lines = (text: string) => parse(text).problems.map(describeProblem);
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
    const unused = "field '__proto__': has no counterpart here and is not used";
    const alone = parse('{ "mcpServers": { "a": { "__proto__": { "command": "lamp" } } } }');
    expect(alone).toMatchObject({ entries: [], refused: ['a'] });
    expect(alone.problems.map(describeProblem)).toContainEqual(expect.stringContaining(unused));
    const beside = parse('{ "mcpServers": { "a": { "command": "lamp", "__proto__": { "cwd": "/" } } } }');
    expect(beside.entries).toMatchObject([{ config: { command: 'lamp' } }]);
    expect(beside.entries[0]?.config).not.toHaveProperty('cwd');
    expect(beside.problems.map(describeProblem)).toEqual([expect.stringContaining(unused)]);
  });
});

describe('a text without servers is an error with a reason', () => {
  it.each([
    ['', 'kit.json:1:1: is empty; expected { "mcpServers": { "NAME": { … } } }'],
    ['  \n// nothing\n', 'kit.json:1:1: is empty; expected { "mcpServers": { "NAME": { … } } }'],
    ['\uFEFF', 'kit.json:1:1: is empty; expected { "mcpServers": { "NAME": { … } } }'],
    ['/* open', 'kit.json:1:1: a comment is not closed'],
    ['{ "mcpServers": ', 'kit.json:1:16: the file ends too early: a value was expected'],
    ['{ "mcpServers": {\n  "a": {}\n', "kit.json:2:10: the file ends too early: '}' was expected"],
    ['{ "mcpServers": { "a": { "args": [1', "kit.json:1:36: the file ends too early: ']' was expected"],
    ['{ "a" 1 }', "kit.json:1:7: ':' was expected"],
    ['{ "a": 1 "b": 2 }', "kit.json:1:10: ',' was expected"],
    ["{ 'a': 1 }", 'kit.json:1:3: this is not JSON; put words and names in double quotes'],
    ['{ a: 1 }', 'kit.json:1:3: this is not JSON; put words and names in double quotes'],
    ['{ "a": "C:\\Users" }', 'kit.json:1:8: unknown escape; write a backslash twice'],
    ['{ "a": "x\ny" }', 'kit.json:1:8: a string is not closed on its line'],
    ['{} {}', 'kit.json:1:4: the JSON ends here, but the text continues'],
    ['['.repeat(100_000), 'kit.json:1:1: is nested too deeply'],
    [`${'['.repeat(300)}${']'.repeat(300)}`, 'kit.json:1:1: is nested too deeply'],
    ['[]', 'kit.json:1:1: expected { "mcpServers": { "NAME": { … } } }, found a list'],
    ['"text"', 'kit.json:1:1: expected { "mcpServers": { "NAME": { … } } }, found a string'],
    ['null', 'kit.json:1:1: expected { "mcpServers": { "NAME": { … } } }, found null'],
  ])('%j', (text, line) => {
    const { entries, problems } = parse(text);
    expect(entries).toEqual([]);
    expect(problems.map(describeProblem)).toEqual([line]);
    expect(problems.every(isError)).toBe(true);
  });

  it('and with the position if a file was cut short', () => {
    const [line, ...more] = lines(fixture('cut-short'));
    expect(line).toMatch(/^kit\.json:3:\d+: the file ends too early/);
    expect(more).toEqual([]);
  });

  it('and with the expected and the found keys', () => {
    const [line] = lines('{ "theme": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6 }');
    for (const key of ['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'mcp']) {
      expect(line).toContain(`'${key}'`);
    }
    expect(line).toMatch(/only 'theme', 'b', 'c', 'd', 'e', …$/);
  });

  it.each([
    ['{}', /the object is empty/],
    ['{ "mcpServer": {} }', /did you mean 'mcpServers'\?$/],
    ['{ "MCPServers": {} }', /did you mean 'mcpServers'\?$/],
    ['{ "mcp-servers": {} }', /did you mean 'mcp/],
    [LAMP, /single entry: write \{ "mcpServers": \{ "NAME"/],
    ['{ "url": "https://example.com/mcp" }', /single entry: write/],
    [`{ "hall": ${LAMP}, "yard": ${LAMP} }`, /entries are not wrapped: write \{ "mcpServers"/],
    ['{ "hall": { "serverUrl": "https://example.com/mcp" } }', /entries are not wrapped: write/],
  ])('and with a hint: %j', (text, hint) => {
    expect(parse(text).entries).toEqual([]);
    expect(lines(text)).toEqual([expect.stringMatching(hint)]);
  });

  it.each([
    ['[]', 'found a list'],
    ['"x"', 'found a string'],
    ['null', 'found null'],
    ['7', 'found a number'],
  ])('if there is %s instead of the entries', (value, found) => {
    expect(lines(`{ "mcpServers": ${value} }`)).toEqual([
      `kit.json:1:3: field 'mcpServers': expected an object with one entry per server, ${found}`,
    ]);
  });

  it('if there are the fields of one server instead of the entries', () => {
    expect(lines(`{ "mcpServers": ${LAMP} }`)).toEqual([
      expect.stringMatching(/'mcpServers': holds a server without a name; write/),
    ]);
  });

  it('but only a warning if the list is empty', () => {
    const { problems } = parse('{ "mcpServers": {} }');
    expect(problems).toMatchObject([
      { severity: 'warning', field: 'mcpServers', message: 'names no server' },
    ]);
  });
});

describe('one invalid entry', () => {
  it('is refused with name, field, expectation and position, and the others are used', () => {
    const { entries, refused } = parse(fixture('one-wrong-entry'));
    expect(entries.map(({ name }) => name)).toEqual(['hall']);
    expect(refused).toEqual(['wrong-command', 'wrong-args', 'empty-entry', 'not-an-object']);
    expect(lines(fixture('one-wrong-entry'))).toEqual([
      "kit.json:4:24: server 'wrong-command', field 'command': expected a string or a list of strings, found a number",
      "kit.json:5:40: server 'wrong-args', field 'args': expected a list of strings, found a string",
      "kit.json:6:5: server 'empty-entry': needs 'command' (a program to start) or 'url' (an address to connect to)",
      "kit.json:7:5: server 'not-an-object': expected an object with 'command' or 'url', found a string",
    ]);
  });

  it('is refused if its fields contradict each other', () => {
    const { entries, refused } = parse(fixture('url-and-command'));
    expect(entries.map(({ name }) => name)).toEqual(['hall']);
    expect(refused).toEqual(['both', 'stdio-with-url', 'strange-type']);
    const reported = lines(fixture('url-and-command')).join('\n');
    expect(reported).toMatch(/'both'.*'command'.*'url'/);
    expect(reported).toMatch(/'stdio-with-url'.*'command'.*'url'/);
    expect(reported).toMatch(/'strange-type'.*'carrier-pigeon'/);
  });

  it('is located at the item of a list and at the name of a variable', () => {
    const text =
      '{ "mcpServers": { "a": {\n "command": "x",\n "args": ["y",\n []],\n "env": { "N": {} } } } }';
    expect(lines(text)).toEqual([
      "kit.json:4:2: server 'a', field 'args[1]': expected a string, found a list",
      "kit.json:5:11: server 'a', field 'env.N': expected a string, found an object",
    ]);
  });

  it('is located under the alias it was written with', () => {
    const text = '{ "mcp": { "a": {\n "command": ["x", "y"],\n "environment": {\n "N": [] } } } }';
    expect(lines(text)).toEqual([
      expect.stringMatching(/^kit\.json:4:2: server 'a', field 'environment\.N': expected a string/),
    ]);
  });
});

describe('a duplicate name', () => {
  it('is reported with its position, and the later server wins', () => {
    const text = '{ "mcpServers": {\n "a": { "command": "first" },\n "a": { "command": "second" } } }';
    const { entries, problems } = parse(text);
    expect(entries).toMatchObject([{ name: 'a', config: { command: 'second' }, line: 3 }]);
    expect(problems).toEqual([
      {
        source: 'kit.json',
        severity: 'warning',
        server: 'a',
        line: 3,
        column: 2,
        message: 'is written more than once; this one counts',
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
      "kit.json:1:21: field 'mcpServers': is written more than once; this one counts",
    ]);
    expect(lines(`{ "mcpServers": { "a": ${LAMP} }, "servers": { "a": ${LAMP} } }`)).toEqual([
      expect.stringMatching(/server 'a': is written more than once/),
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
