import { describe, expect, it } from 'vitest';
import { editText, EditRefused } from '../../../src/config/files/edit-text.js';
import type { Syntax } from '../../../src/config/files/layout.js';

const ENTRY = { command: 'node', args: ['b.mjs'] };
const ADD = { path: ['mcpServers', 'b'], value: ENTRY } as const;
const REMOVE = { path: ['mcpServers', 'a'] } as const;
const DISABLE = { path: ['mcpServers', 'a', 'enabled'], value: false } as const;

const JSON_TEXT = `// first
{
    /* others */ "theme": "dark",
    "mcpServers": {
        // of a
        "a": { "command": "a" }, // after a
        "z": { "command": "z" },
    },
}
`;

const YAML_TEXT = `# first
theme: 'dark'
mcpServers:
    # of a
    a:
        command: "a" # after a

    z: { command: z }
`;

describe('an edit', () => {
  it('changes JSON in one place, with its comments, order and indentation.', async () => {
    expect(await editText(JSON_TEXT, 'json', DISABLE)).toBe(
      JSON_TEXT.replace(
        '{ "command": "a" }',
        '{\n            "command": "a",\n            "enabled": false\n        }',
      ),
    );
    const added = await editText(JSON_TEXT, 'json', ADD);
    expect(added.startsWith(JSON_TEXT.slice(0, JSON_TEXT.indexOf('"z"')))).toBe(true);
    expect(added).toContain('\n        "b": {\n            "command": "node",');
    const removed = await editText(JSON_TEXT, 'json', REMOVE);
    expect(removed).not.toContain('"a"');
    for (const kept of ['// first', '/* others */', '"z": { "command": "z" }'])
      expect(removed).toContain(kept);
  });

  it.each([
    [
      'a member in the middle',
      REMOVE,
      `{
  "mcpServers": {
    // about a
    // about z
    "z": { "command": "z" } // of z
    // end
  }
}
`,
    ],
    [
      'the last member',
      { path: ['mcpServers', 'z'] } as const,
      `{
  "mcpServers": {
    // about a
    "a": { "command": "a" } // of a
    // about z
    // end
  }
}
`,
    ],
    [
      'none: it adds one',
      { path: ['mcpServers', 'b'], value: { command: 'b' } } as const,
      `{
  "mcpServers": {
    // about a
    "a": { "command": "a" }, // of a
    // about z
    "z": { "command": "z" }, // of z
    "b": {
      "command": "b"
    }
    // end
  }
}
`,
    ],
  ])('leaves every comment of JSON at its line if it removes %s.', async (_, edit, expected) => {
    const text = `{
  "mcpServers": {
    // about a
    "a": { "command": "a" }, // of a
    // about z
    "z": { "command": "z" } // of z
    // end
  }
}
`;
    expect(await editText(text, 'json', edit)).toBe(expected);
    const withCommas = text.replace('"z" } // of z', '"z" }, // of z');
    const rest = (each: string): string => each.replaceAll(/,(?= *\/\/)|,$|(?<=\}),(?=\n)/gm, '');
    expect(rest(await editText(withCommas, 'json', edit))).toBe(rest(expected));
  });

  it('removes a member of JSON from a line with others.', async () => {
    const text = '{ "mcpServers": { "a": {}, /* z */ "z": {} } }';
    expect(await editText(text, 'json', REMOVE)).toBe('{ "mcpServers": { /* z */ "z": {} } }');
    expect(await editText(text, 'json', { path: ['mcpServers', 'z'] })).toBe(
      '{ "mcpServers": { "a": {} /* z */ } }',
    );
  });

  it('changes YAML in one place, with its comments, order, quotes and indentation.', async () => {
    expect(await editText(YAML_TEXT, 'yaml', DISABLE)).toBe(
      YAML_TEXT.replace('# after a\n', '# after a\n        enabled: false\n'),
    );
    const added = await editText(YAML_TEXT, 'yaml', ADD);
    expect(added).toContain(YAML_TEXT.trimEnd());
    expect(added).toContain('\n    b:\n        command: node\n');
    const removed = await editText(YAML_TEXT, 'yaml', REMOVE);
    for (const kept of ['# first', "theme: 'dark'", 'z: { command: z }']) expect(removed).toContain(kept);
  });

  it('changes only the lines of the member in YAML.', async () => {
    const text = [
      'a_first: [x]   # tight',
      'mcpServers:',
      '  # about a',
      '  a:',
      '    command: node   # of a',
      '    disabled: true  # off',
      '  # about b',
      '  b:',
      '    command: |',
      '      text',
      '    # tail of b',
      '',
      'last: { y: 1 } # end',
      '',
    ];
    const edited = async (path: readonly [string, ...string[]], value?: unknown): Promise<string[]> => {
      const edit = { path, ...(value !== undefined && { value }) };
      return (await editText(text.join('\n'), 'yaml', edit)).split('\n');
    };
    const without = (from: number, to: number): string[] => text.toSpliced(from, to - from);
    expect(await edited(['mcpServers', 'a', 'disabled'])).toEqual(without(5, 6));
    expect(await edited(['mcpServers', 'a'])).toEqual(without(3, 6));
    expect(await edited(['mcpServers', 'b'])).toEqual(without(7, 11));
    expect(await edited(['mcpServers', 'c'], { command: 'c', args: ['d'] })).toEqual(
      text.toSpliced(11, 0, '  c:', '    command: c', '    args:', '      - d'),
    );
    expect(await edited(['mcpServers', 'a', 'enabled'], false)).toEqual(
      text.toSpliced(6, 0, '    enabled: false'),
    );
  });

  it('adds a table to TOML at its end, and refuses every other change with its line.', async () => {
    const text = '# first\n[mcp_servers.a]\ncommand = "a" # after a\n';
    const added = await editText(text, 'toml', { path: ['mcp_servers', 'b'], value: ENTRY });
    expect(added).toBe(`${text}\n[mcp_servers.b]\ncommand = "node"\nargs = [ "b.mjs" ]\n`);
    for (const value of [undefined, { command: 'x' }]) {
      const edit = { path: ['mcp_servers', 'a'], ...(value && { value }) } as const;
      await expect(editText(text, 'toml', edit)).rejects.toThrow(/^2: /);
    }
    const inline = '\n[mcp_servers]\na = { command = "a", enabled = true }\n';
    const off = { path: ['mcp_servers', 'a', 'enabled'], value: false } as const;
    await expect(editText(inline, 'toml', off)).rejects.toThrow(/^3: .*'mcp_servers\.a\.enabled' to false/);
    await expect(
      editText('mcp_servers = { a = {} }\n', 'toml', { path: ['mcp_servers', 'b'], value: ENTRY }),
    ).rejects.toThrow(/by hand$/);
    const disabling = { path: ['mcp_servers', 'a', 'enabled'], value: false } as const;
    await expect(editText(text, 'toml', disabling)).rejects.toThrow(EditRefused);
  });

  it.each<[Syntax, string]>([
    ['json', ''],
    ['json', '{}'],
    ['json', '{ "mcpServers": {} }'],
    ['yaml', ''],
    ['yaml', 'mcpServers: {}\n'],
    ['yaml', '# only a comment\n'],
  ])('fills an empty file: %s %j', async (syntax, text) => {
    const edited = await editText(text, syntax, ADD);
    expect(edited.endsWith('\n') || text === '{}' || text.includes('{} }')).toBe(true);
    await expect(editText(edited, syntax, { path: ['mcpServers', 'b'] })).resolves.not.toContain('node');
  });

  it('keeps line ends and the byte order mark.', async () => {
    for (const [syntax, text] of [
      ['json', JSON_TEXT],
      ['yaml', YAML_TEXT],
    ] as const) {
      const windows = `\uFEFF${text.replaceAll('\n', '\r\n')}`;
      const edited = await editText(windows, syntax, ADD);
      expect(edited.startsWith('\uFEFF')).toBe(true);
      expect(edited).not.toMatch(/[^\r]\n/);
    }
  });

  it.each<[Syntax, string]>([
    ['json', '{ "mcpServers": '],
    ['json', '{ "mcpServers": { "a": {}, "a": {} } }'],
    ['json', '{ "mcpServers": [] }'],
    ['yaml', 'mcpServers: [\n'],
    ['yaml', 'mcpServers: text\n'],
    ['yaml', 'mcpServers: &all\n  a: {}\nothers: *all\n'],
  ])('refuses a text in which more would change: %s %j', async (syntax, text) => {
    await expect(editText(text, syntax, ADD)).rejects.toThrow(EditRefused);
  });
});
