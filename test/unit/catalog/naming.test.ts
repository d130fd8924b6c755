import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exposedNames, rawKey, type ToolIdentity } from '../../../src/catalog/naming.js';
import { DEFAULT_NAMING, type NamingTemplate } from '../../../src/config/entry/server-config.js';

const TEMPLATES: readonly NamingTemplate[] = [
  'mcp__{server}__{tool}',
  'mcp_{server}_{tool}',
  'mcp__{server}_{tool}',
  '{tool}',
];

function tool(server: string, name: string): ToolIdentity {
  return { server, tool: name };
}

function hash({ server, tool: name }: ToolIdentity, digits = 8): string {
  return createHash('sha256').update(`${server}\0${name}`, 'utf16le').digest('hex').slice(0, digits);
}

/** The exposed names in the order of the given tools. */
function namesOf(
  tools: readonly ToolIdentity[],
  template: NamingTemplate = DEFAULT_NAMING,
): (string | undefined)[] {
  const names = exposedNames(tools, template);
  return tools.map((each) => names.get(rawKey(each)));
}

describe('a single tool', () => {
  it.each([
    { template: 'mcp__{server}__{tool}', name: 'mcp__fs__read_file' },
    { template: 'mcp_{server}_{tool}', name: 'mcp_fs_read_file' },
    { template: 'mcp__{server}_{tool}', name: 'mcp__fs_read_file' },
    { template: '{tool}', name: 'read_file' },
  ] as const)('is called $name under $template', ({ template, name }) => {
    expect(namesOf([tool('fs', 'read_file')], template)).toEqual([name]);
  });

  it.each([
    { what: 'a dot and a slash', name: 'lamp.set/porch', head: 'mcp__fs__lamp_set_porch' },
    { what: 'a space', name: 'set lamp', head: 'mcp__fs__set_lamp' },
    { what: 'an umlaut', name: 'laterne_ü', head: 'mcp__fs__laterne__' },
    { what: 'a character outside the basic plane', name: 'lamp🏮', head: 'mcp__fs__lamp_' },
    { what: 'a control character', name: 'lamp\u0000\u001b', head: 'mcp__fs__lamp__' },
    { what: 'nothing at all', name: '', head: 'mcp__fs__' },
  ])('gets only valid characters and the hash of its identity if its name has $what', ({ name, head }) => {
    const suffix = name === '' ? '' : `_${hash(tool('fs', name))}`;
    expect(namesOf([tool('fs', name)])).toEqual([head + suffix]);
  });

  it('keeps hyphens and capital letters', () => {
    expect(namesOf([tool('Fs-2', 'read-File')])).toEqual(['mcp__Fs-2__read-File']);
  });

  it('keeps a name of exactly 64 characters', () => {
    const name = 'x'.repeat(64 - 'mcp__fs__'.length);
    expect(namesOf([tool('fs', name)])).toEqual([`mcp__fs__${name}`]);
  });

  it('is cut to 64 characters that end in the hash if its name has one more', () => {
    const long = tool('fs', 'x'.repeat(65 - 'mcp__fs__'.length));
    expect(namesOf([long])).toEqual([`mcp__fs__${'x'.repeat(46)}_${hash(long)}`]);
  });

  it('is called by its hash if the bare template leaves nothing', () => {
    expect(namesOf([tool('fs', '')], '{tool}')).toEqual([`_${hash(tool('fs', ''))}`]);
  });

  it('does not expand a placeholder in the name of a server', () => {
    const odd = tool('{tool}', 'echo');
    expect(namesOf([odd])).toEqual([`mcp___tool___echo_${hash(odd)}`]);
  });
});

describe('a collision', () => {
  it('of two servers under the bare template renames both', () => {
    const tools = [tool('first', 'echo'), tool('second', 'echo')];
    expect(namesOf(tools, '{tool}')).toEqual(tools.map((each) => `echo_${hash(each)}`));
  });

  it('of names that are ambiguous because of underscores renames both', () => {
    const tools = [tool('a', 'b_c'), tool('a_b', 'c')];
    expect(namesOf(tools, 'mcp_{server}_{tool}')).toEqual(tools.map((each) => `mcp_a_b_c_${hash(each)}`));
  });

  it('does not arise between a valid name and one that is cleaned to the same text', () => {
    const clean = tool('fs', 'set_lamp');
    const cleaned = tool('fs', 'set lamp');
    expect(namesOf([clean, cleaned])).toEqual(['mcp__fs__set_lamp', `mcp__fs__set_lamp_${hash(cleaned)}`]);
  });

  it('of a valid name with the suffixed name of another renames both', () => {
    const cleaned = tool('fs', 'set lamp');
    const impostor = tool('fs', `set_lamp_${hash(cleaned)}`);
    expect(namesOf([cleaned, impostor])).toEqual([
      `mcp__fs__set_lamp_${hash(cleaned, 16)}`,
      `mcp__fs__set_lamp_${hash(cleaned)}_${hash(impostor)}`,
    ]);
  });

  it('of two suffixes, as a hostile server can choose them, is resolved by a longer hash', () => {
    const one = tool('hostile', `${'x'.repeat(64)}33372`);
    const other = tool('hostile', `${'x'.repeat(64)}164886`);
    expect(hash(one)).toBe(hash(other));
    expect(namesOf([one, other], '{tool}')).toEqual([
      `${'x'.repeat(47)}_${hash(one, 16)}`,
      `${'x'.repeat(47)}_${hash(other, 16)}`,
    ]);
  });

  it('with a server that has guessed every suffix makes the whole hash the name', () => {
    const victim = tool('fs', 'x y');
    const guesses = [8, 16, 24, 32, 40, 48, 56].map((digits) => {
      const suffix = `_${hash(victim, digits)}`;
      return tool('hostile', 'x_y'.slice(0, 64 - suffix.length) + suffix);
    });
    const names = namesOf([victim, ...guesses], '{tool}');
    expect(names[0]).toBe(hash(victim, 64));
    expect(new Set(names).size).toBe(8);
  });

  it('of names that differ only in lone surrogates is resolved', () => {
    const [one, other] = namesOf([tool('fs', '\ud800'), tool('fs', '\ud801')]);
    expect(one).not.toBe(other);
  });

  it('does not arise if the same tool is listed twice', () => {
    expect([...exposedNames([tool('fs', 'echo'), tool('fs', 'echo')], DEFAULT_NAMING).values()]).toEqual([
      'mcp__fs__echo',
    ]);
  });
});

describe('for any names of servers and tools', () => {
  const word = fc.oneof(
    fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', '_', '.', 'ü') }),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.string({ minLength: 50, maxLength: 70, unit: fc.constantFrom('a', '-') }),
  );
  const server = word.map((text) => text.replaceAll('\0', ''));
  const identity = fc.record({ server, tool: word });
  const catalog = fc.uniqueArray(identity, { maxLength: 30, selector: rawKey });
  const template = fc.constantFrom(...TEMPLATES);

  it('every tool has a name, every name is valid, and no two are equal', () => {
    fc.assert(
      fc.property(catalog, template, (tools, naming) => {
        const names = exposedNames(tools, naming);
        expect(names.size).toBe(tools.length);
        expect(new Set(names.values()).size).toBe(tools.length);
        for (const name of names.values()) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      }),
    );
  });

  it('a tool that is named like the exposed name of another never gets that name', () => {
    fc.assert(
      fc.property(catalog, template, (tools, naming) => {
        const impostors = [...exposedNames(tools, naming).values()].map((name) => tool('x', name));
        const all = [...tools, ...impostors];
        const identities = new Set(all.map(rawKey));
        expect(new Set(exposedNames(all, naming).values()).size).toBe(identities.size);
      }),
    );
  });

  it('names do not depend on the order of arrival', () => {
    const shuffled = catalog.chain((tools) =>
      fc.tuple(fc.constant(tools), fc.shuffledSubarray(tools, { minLength: tools.length })),
    );
    fc.assert(
      fc.property(shuffled, template, ([tools, permuted], naming) => {
        expect(exposedNames(permuted, naming)).toEqual(exposedNames(tools, naming));
      }),
    );
  });

  it('a server whose tools do not collide renames no tool', () => {
    const newcomer = fc.uniqueArray(word, { maxLength: 10 });
    fc.assert(
      fc.property(catalog, newcomer, fc.constantFrom(...TEMPLATES.slice(0, 3)), (tools, added, naming) => {
        const others = tools.filter((each) => !each.server.startsWith('newcomer'));
        const all = [...added.map((name) => tool('newcomer', name)), ...others];
        expect(namesOf([...others], naming)).toEqual(
          others.map((each) => exposedNames(all, naming).get(rawKey(each))),
        );
      }),
    );
  });

  it('a server with an existing name renames only the tools of that name', () => {
    const before = [tool('a', 'echo'), tool('a', 'read'), tool('b', 'write')];
    const after = namesOf([...before, tool('c', 'echo')], '{tool}');
    expect(after).toEqual([
      `echo_${hash(tool('a', 'echo'))}`,
      'read',
      'write',
      `echo_${hash(tool('c', 'echo'))}`,
    ]);
  });
});
