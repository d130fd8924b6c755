/** Configuration files of any size and structure: read in time proportional to their length, or refused before they are parsed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isError } from '../../../../src/config/entry/problem.js';
import { layoutOf, readerOf } from '../../../../src/config/files/layout.js';
import { parseConfigText } from '../../../../src/config/files/parse-config.js';
import { loadConfig } from '../../../../src/servers/load-config.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const many = (count: number, make: (index: number) => string, separator = ''): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);

async function parse(name: string, text: string) {
  const layout = layoutOf(name);
  return parseConfigText(text, name, layout, await readerOf(layout.syntax));
}

/** The processor time that the work takes, in seconds: other programs do not count. */
async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000_000;
}

const ENTRY = '{ "command": "lamp", "args": ["a", "b"] }';

describe('a configuration text with too much structure', () => {
  it.each<[what: string, name: string, text: string, why: RegExp]>([
    ['lists in lists', 'a.json', '['.repeat(5_000_000), /nested too deeply/],
    ['objects in objects', 'a.json', `${'{"a":'.repeat(10_000)}0${'}'.repeat(10_000)}`, /nested too deeply/],
    ['brackets that close nothing', 'a.json', '{"a":[},'.repeat(10_000), /nested too deeply/],
    ['objects', 'a.json', `[${'{},'.repeat(1_000_000)}0]`, /more than 1,000,000 /],
    ['names', 'a.json', `{${many(300_000, (n) => `"k${n}":0`, ',')}}`, /more than 1,000,000 /],
    ['words', 'a.json', 'x '.repeat(1_100_000), /more than 1,000,000 /],
    ['arrays in arrays', 'a.toml', `a = ${'['.repeat(10_000)}`, /nested too deeply/],
    ['tables in tables', 'a.toml', `a = ${'{a='.repeat(10_000)}0`, /nested too deeply/],
    ['fields', 'a.toml', many(300_000, (n) => `k${n} = 0\n`), /more than 500,000 /],
    ['tables', 'a.toml', '[[a]]\n'.repeat(200_000), /more than 500,000 /],
    ['lists in lists', 'a.yaml', '['.repeat(10_000), /nested too deeply|not YAML|bracket/],
    ['lines', 'a.yaml', many(20_000, (n) => `k${n}: 0\n`), /more than 20,000 /],
    ['tags', 'a.yaml', '! '.repeat(5_000_000), /more than 20,000 /],
    ['quotes', 'a.yaml', '" '.repeat(5_000_000), /more than 20,000 /],
  ])('of %s is refused at once: %s', async (_, name, text, why) => {
    let parsed: Awaited<ReturnType<typeof parse>> | undefined;
    const seconds = await secondsOf(async () => {
      parsed = await parse(name, text);
    });
    expect(parsed?.entries).toEqual([]);
    expect(parsed?.problems).toMatchObject([{ source: name, line: 1, message: expect.stringMatching(why) }]);
    expect(parsed?.problems.every(isError)).toBe(true);
    expect(seconds).toBeLessThan(2);
  });

  it('can have what looks like structure in its strings and comments.', async () => {
    const text = `{ "note": "${'[{'.repeat(1_000_000)}", /* ${'"['.repeat(1_000_000)} */
      // "${'{'.repeat(100_000)}
      "mcpServers": { "lamp": ${ENTRY} } }`;
    expect(await parse('a.json', text)).toMatchObject({ entries: [{ name: 'lamp' }], problems: [] });
  });
});

describe('a large configuration text', () => {
  const entries = (count: number): string => many(count, (n) => `"s${n}": ${ENTRY}`, ',');
  const wrong = (count: number): string => many(count, (n) => `"s${n}": { "command": 5, "argz": 1 }`, ',');

  it.each<[what: string, name: string, text: string, count: number]>([
    ['entries', 'a.json', `{"mcpServers":{${entries(5_000)}}}`, 5_000],
    ['wrong entries', 'a.json', `{"mcpServers":{${wrong(5_000)}}}`, 0],
    [
      'entries of another host',
      'a.json',
      `{"context_servers":{${many(5_000, (n) => `"s${n}": { "settings": {} }`, ',')}}}`,
      0,
    ],
    [
      'unknown fields',
      'a.json',
      `{"mcpServers":{"a":{"command":"x",${many(50_000, (n) => `"k${n}":0`, ',')}}}}`,
      1,
    ],
    [
      'wrong values',
      'a.json',
      `{"mcpServers":{"a":{"command":"x","env":{${many(50_000, (n) => `"k${n}":0`, ',')}}}}}`,
      1,
    ],
    [
      'arguments',
      'a.json',
      `{"mcpServers":{"a":{"command":"x","args":[${many(50_000, () => '0', ',')}]}}}`,
      1,
    ],
    ['repeated names', 'a.json', `{"mcpServers":{${many(20_000, () => `"a": ${ENTRY}`, ',')}}}`, 1],
    ['other settings', 'a.json', `{${many(50_000, (n) => `"k${n}":0`, ',')},"mcpServers":{"a":${ENTRY}}}`, 1],
    ['tables', 'a.toml', many(5_000, (n) => `[mcp_servers.s${n}]\ncommand = "x"\n`), 5_000],
    ['fields', 'a.toml', `[mcp_servers.a]\ncommand = "x"\n${many(50_000, (n) => `k${n} = 0\n`)}`, 1],
    ['lines', 'a.yaml', `mcpServers:\n${many(2_000, (n) => ` s${n}:\n  command: x\n`)}`, 2_000],
  ])('of many %s is read in a few seconds: %s', async (_, name, text, count) => {
    let parsed: Awaited<ReturnType<typeof parse>> | undefined;
    const seconds = await secondsOf(async () => {
      parsed = await parse(name, text);
    });
    expect(parsed?.entries).toHaveLength(count);
    // What grows with the square of these numbers takes minutes.
    expect(seconds).toBeLessThan(6);
  });

  it('reports a few problems of each server, and counts the others.', async () => {
    const env = many(100, (n) => `"k${n}":0`, ',');
    const headers = many(150_000, (n) => `"k${n}":"\\n"`, ',');
    const {
      entries: good,
      refused,
      problems,
    } = await parse(
      'a.json',
      `{"mcpServers":{"a":{"command":"x","env":{${env}}},"b":{"url":"http://b/","headers":{${headers}}}}}`,
    );
    expect([good.length, refused]).toEqual([1, ['b']]);
    const of = (server: string) => problems.filter((problem) => problem.server === server);
    expect(of('a')).toHaveLength(51);
    expect(of('a').some(isError)).toBe(false);
    expect(of('a').at(-1)?.message).toContain('50 more');
    expect(of('b').at(-1)).toMatchObject({ severity: 'error', message: expect.stringContaining('149950') });
  });

  it('names a few unknown fields, and counts the others.', async () => {
    const fields = many(1_000, (n) => `"k${n}":0`, ',');
    const { problems } = await parse('a.json', `{"mcpServers":{"a":{"command":"x",${fields}}}}`);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain("'k19' and 980 more ");
  });
});

describe('a large configuration file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-large-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('of 20,000 servers is loaded in a few seconds.', async () => {
    const servers = many(20_000, (n) => `"s${n}": ${ENTRY}`, ',');
    writeFileSync(join(folder, 'many.json'), `{"mcpServers":{${servers}}}`);
    const seconds = await secondsOf(async () => {
      const loaded = await loadConfig({ config: 'many.json', cwd: folder });
      expect(loaded.servers).toHaveLength(20_000);
    });
    expect(seconds).toBeLessThan(6);
  });

  it('that is refused is a source with a message that names it.', async () => {
    writeFileSync(join(folder, 'deep.json'), '['.repeat(10_000));
    const { sources, problems } = await loadConfig({ config: 'deep.json', cwd: folder });
    expect(sources).toMatchObject([{ ok: false, message: expect.stringMatching(/^deep\.json:1:1: /) }]);
    expect(problems).toHaveLength(1);
  });
});
