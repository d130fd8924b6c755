/** Every problem in a file of cases is reported. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCaseFile } from '../../../support/tools/faults.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-cases-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const GOOD = {
  id: 'a',
  start: { via: 'stdio', command: 'node', args: ['server.mjs'] },
  steps: [{ do: 'connect', timeoutMs: 1 }],
  checks: { state: 'ready' },
};

function read(content: unknown) {
  const file = join(folder, 'cases.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readCaseFile(file);
}

const problemsOf = (change: object) => read({ cases: [{ ...GOOD, ...change }] }).cases[0]?.problems;

describe('a file of cases', () => {
  it('has its cases and the folder they start in.', () => {
    const { cases, folder: where } = read({ kit: 'mine', cases: [{ ...GOOD, note: 'for people' }] });
    expect(cases).toMatchObject([{ id: 'a', kind: '', problems: [] }]);
    expect(where).toBe(folder);
  });

  it.each([
    ['{ "cases": [', /cases\.json: .*JSON/],
    ['null', /'cases' should be a list/],
    [{ kases: [] }, /'cases' should be a list/],
  ])('that is invalid is refused: %j.', (content, message) => {
    expect(() => read(content)).toThrow(message);
    expect(() => readCaseFile(join(folder, 'nothing.json'))).toThrow('ENOENT');
  });

  it.each<[string, object, RegExp]>([
    [
      'an unknown step',
      { steps: [{ do: 'dance' }] },
      /steps\[0\]\.do is unknown: "dance"; known are connect/,
    ],
    ['an unknown check', { checks: { shiny: true } }, /checks has an unknown check: 'shiny'/],
    ['an unknown check in one of several', { checks: { anyOf: [{ shiny: true }] } }, /anyOf\[0\].*'shiny'/],
    ['an unknown outcome of a call', { checks: { calls: { a: { loud: 1 } } } }, /checks\.calls\.a.*'loud'/],
    ['an unknown bound', { checks: { journal: { spawn: { most: 1 } } } }, /journal\.spawn.*'most'/],
    ['an unknown state', { checks: { state: 'happy' } }, /checks\.state is unknown: "happy"/],
    [
      'an invalid pattern',
      { checks: { errorNames: ['('] } },
      /errorNames\[0\] should be a regular expression/,
    ],
    ['an unknown setting', { client: { health: 1 } }, /client has an unknown setting: 'health'/],
    ['an unknown way to start', { start: { via: 'carrier-pigeon' } }, /start\.via is unknown/],
    ['a start without command', { start: { via: 'http' } }, /start lacks 'command'/],
    ['a call without tool', { steps: [{ do: 'call', as: 'x' }] }, /steps\[0\] lacks 'tool'/],
    ['a time that is not a number', { steps: [{ do: 'wait', ms: 'long' }] }, /ms should be a number/],
    ['no steps', { steps: undefined }, /the case lacks 'steps'/],
    ['no id', { id: undefined }, /the case lacks an 'id'/],
    ['a count that is not a number', { checks: { readyCount: 'all' } }, /readyCount should be a number/],
    ['an unknown signal', { steps: [{ do: 'kill-host', signal: 'SIGHELLO' }] }, /should be a signal/],
    ['headers for no address', { client: { headers: {} } }, /client\.headers .* not of 'stdio'/],
    ['a step of another start', { steps: [{ do: 'load' }] }, /'load' is not a step of a case .* 'stdio'/],
    ['a step after the end of the host', { steps: [{ do: 'kill-host' }, { do: 'stop' }] }, /not 'stop'/],
  ])('has the problem of each case: %s.', (_, change, problem) => {
    expect(problemsOf(change)).toEqual([expect.stringMatching(problem)]);
  });

  it.each<[string, object]>([
    ['one state', { checks: { state: 'ready', stateNot: 'failed', servers: { a: 'ready' } } }],
    ['several states', { checks: { state: ['ready'], stateNot: ['failed'], servers: { a: ['ready'] } } }],
    ['one name', { checks: { tools: 'a', samePid: 'a', gone: 'a', errorNames: 'a', growingGaps: 'a' } }],
    ['several names', { checks: { tools: ['a'], samePid: ['a'], gone: ['a'], growingGaps: ['a'] } }],
    [
      'a bound as a number',
      { checks: { journal: { spawn: 1 }, requests: { initialize: 0 }, readyCount: 1 } },
    ],
    ['a bound with two ends', { checks: { journal: { spawn: { min: 1, max: 2 } }, readyCount: { min: 1 } } }],
    ['sets within sets', { checks: { anyOf: [{ anyOf: [{ state: 'ready' }] }, { readyCount: 1 }] } }],
    [
      'a call with sets',
      { checks: { calls: { a: { anyOf: [{ text: '' }, { error: true, names: 'x' }] } } } },
    ],
    ['steps without options', { steps: [{ do: 'ping' }, { do: 'call', tool: 'a' }, { do: 'kill-host' }] }],
    ['a host that breaks', { steps: [{ do: 'kill-host', signal: 'uncaught error' }] }],
    ['a note', { steps: [{ do: 'stop', note: 'for people' }] }],
    ['no arguments', { start: { via: 'stdio', command: 'node' } }],
  ])('accepts short and long forms: %s.', (_, change) => {
    expect(problemsOf(change)).toEqual([]);
  });

  it('names the HTTP server of a mode in the default form, or like the other cases.', () => {
    const start = { via: 'config', file: 'a.json', http: 'plain' };
    const about = { ...GOOD, start, steps: [{ do: 'load' }] };
    const model = { via: 'http', command: 'python3', args: ['web.py', '--mode=odd', '--quiet'] };
    expect(read({ cases: [about] }).cases[0]?.server).toEqual({
      command: 'node',
      args: ['faulty-http.mjs', '--mode=plain', '--port=0'],
    });
    const [derived, itself] = read({ cases: [about, { ...GOOD, id: 'b', start: model }] }).cases;
    expect(derived?.server).toMatchObject({
      command: 'python3',
      args: ['web.py', '--mode=plain', '--quiet'],
    });
    expect(itself?.server).toMatchObject({ command: 'python3', args: model.args });
    const own = { command: 'web', args: [] };
    expect(read({ cases: [{ ...about, start: { ...start, http: own } }] }).cases[0]?.server).toEqual(own);
    const { http, ...without } = start;
    expect(read({ cases: [{ ...about, start: without, http }] }).cases[0]?.server).toMatchObject({
      command: 'node',
    });
    expect(read({ cases: [GOOD] }).cases[0]?.server).toBeUndefined();
  });

  it('may be the cases.json of a folder, and may start with a byte order mark.', () => {
    read(`\uFEFF${JSON.stringify({ cases: [GOOD] })}`);
    expect(readCaseFile(folder)).toMatchObject({ folder, cases: [{ id: 'a', problems: [] }] });
  });

  it('distinguishes two cases with the same id.', () => {
    expect(read({ cases: [GOOD, GOOD] }).cases.map(({ problems }) => problems)).toEqual([
      [],
      ["another case has the id 'a'"],
    ]);
  });
});
