import { describe, expect, it } from 'vitest';
import { InputAnswers } from '../../../../src/config/entry/inputs.js';
import type { ServerSpec } from '../../../../src/config/entry/server-spec.js';
import { parseConfigText } from '../../../../src/config/files/parse-config.js';
import { describeProblem } from '../../../../src/config/entry/problem.js';
import type { InputRequest } from '../../../../src/config/entry/expansion-options.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

function spec(name: string, ...ids: readonly string[]): ServerSpec {
  return {
    name,
    source: '.vscode/mcp.json',
    scope: 'user',
    shadows: [],
    baseDir: '/srv',
    hash: '',
    config: { command: 'x', args: ids.map((id) => `\${input:${id}}`) },
    inputs: new Map([['room', { id: 'room', description: 'Which room', default: 'hall', password: false }]]),
  };
}

describe('a value that a person is asked for', () => {
  it('is asked with what the file says about it, once for all servers of the file.', async () => {
    const asked: InputRequest[] = [];
    const answers = new InputAnswers((request) => {
      asked.push(request);
      return Promise.resolve(`${request.id}!`);
    });
    const [one, two] = await Promise.all([
      answers.answersFor(spec('one', 'room', 'key')),
      answers.answersFor(spec('two', 'room')),
    ]);
    expect(one).toEqual({ values: { 'input:key': 'key!', 'input:room': 'room!' } });
    expect(two).toEqual({ values: { 'input:room': 'room!' } });
    expect(await answers.answersFor(spec('one', 'key'))).toEqual({ values: { 'input:key': 'key!' } });
    const about = { server: 'one', source: '.vscode/mcp.json' };
    expect(asked).toEqual([
      { ...about, id: 'key', password: true },
      { ...about, id: 'room', description: 'Which room', default: 'hall', password: false },
    ]);
  });

  it('is another one for another file.', async () => {
    const answers = new InputAnswers(({ source }) => source);
    await answers.answersFor(spec('one', 'room'));
    const other = { ...spec('two', 'room'), source: 'other.json' };
    expect(await answers.answersFor(other)).toEqual({ values: { 'input:room': 'other.json' } });
  });

  it('is another one once the file proposes another, and where that is in another folder.', async () => {
    const answers = new InputAnswers((request) => request.default);
    await answers.answersFor(spec('one', 'room'));
    const now = new Map([['room', { id: 'room', default: 'yard', password: false }]]);
    const changed = { ...spec('one', 'room'), inputs: now };
    expect(await answers.answersFor(changed)).toEqual({ values: { 'input:room': 'yard' } });
    const replies = ['here', 'there'];
    const ofFolders = new InputAnswers(() => replies.shift());
    expect(await ofFolders.answersFor(spec('one', 'room'))).toEqual({ values: { 'input:room': 'here' } });
    const elsewhere = { ...spec('one', 'room'), baseDir: '/srv/nearer' };
    expect(await ofFolders.answersFor(elsewhere)).toEqual({ values: { 'input:room': 'there' } });
  });

  it('is asked again after nobody answered, or the asking failed.', async () => {
    const replies = [() => undefined, () => Promise.reject(new Error('window closed')), () => 'yard'];
    const answers = new InputAnswers(() => replies.shift()?.());
    expect(await answers.answersFor(spec('one', 'room'))).toMatchObject({
      failure: {
        code: 'variable-missing',
        message: "Server 'one' needs an answer that is missing: ${input:room}",
        hint: expect.stringContaining('Retry'),
      },
    });
    expect(await answers.answersFor(spec('one', 'room'))).toMatchObject({
      failure: { code: 'variable-missing', message: 'Asking for input:room failed: window closed' },
    });
    expect(await answers.answersFor(spec('one', 'room'))).toEqual({ values: { 'input:room': 'yard' } });
  });

  it('is what the file proposes where there is nobody to ask, or else missing.', async () => {
    const answers = new InputAnswers(undefined);
    expect(await answers.answersFor(spec('one', 'room'))).toEqual({ values: { 'input:room': 'hall' } });
    expect(await answers.answersFor(spec('one', 'room', 'key'))).toMatchObject({
      failure: {
        message: expect.stringContaining('${input:key}'),
        hint: expect.stringContaining('askInput'),
      },
    });
  });

  it('is no question for an entry without one.', async () => {
    const answers = new InputAnswers(() => Promise.reject(new Error('asked')));
    expect(await answers.answersFor(spec('one'))).toEqual({ values: {} });
  });
});

describe('what a file asks a person for', () => {
  const LAMP = '"servers": { "a": { "command": "x" } }';
  const read = (text: string) => parseConfigText(text, 'kit.json');

  it('may stand at the top or beside the servers under mcp.', () => {
    expect([...read(`{ "inputs": [{ "id": "a" }], ${LAMP} }`).inputs.keys()]).toEqual(['a']);
    expect([...read(`{ "mcp": { "inputs": [{ "id": "b" }], ${LAMP} } }`).inputs.keys()]).toEqual(['b']);
  });

  it.each(['3', '[3]', '[{ "name": "a" }]', '[{ "id": 1 }, { "id": "a" }]'])(
    'is told where it makes no sense, and the servers stay: %s',
    (inputs) => {
      const { entries, problems } = read(`{ ${LAMP},\n "inputs": ${inputs} }`);
      expect(entries).toHaveLength(1);
      expect(problems.map(describeProblem)).toEqual([
        "kit.json:2:2: field 'inputs': expected a list of objects, each with an 'id'",
      ]);
    },
  );
});
