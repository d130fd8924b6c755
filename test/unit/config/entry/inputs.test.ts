import { describe, expect, it } from 'vitest';
import { InputAnswers } from '../../../../src/config/entry/inputs.js';
import type { ServerSpec } from '../../../../src/config/entry/server-spec.js';
import { parseConfigText } from '../../../../src/config/files/parse-config.js';
import { problemLine } from '../../../support/problem-line.js';
import type { InputRequest } from '../../../../src/config/entry/server-config.js';
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

describe('the answer to an input', () => {
  it('is requested with its description from the file, once for all servers of the file.', async () => {
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

  it('is requested separately for another file.', async () => {
    const answers = new InputAnswers(({ source }) => source);
    await answers.answersFor(spec('one', 'room'));
    const other = { ...spec('two', 'room'), source: 'other.json' };
    expect(await answers.answersFor(other)).toEqual({ values: { 'input:room': 'other.json' } });
  });

  it('is requested again if the file changes its default, or if the file is in another folder.', async () => {
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

  it('is requested again after a missing answer or a failed request.', async () => {
    const replies = [() => undefined, () => Promise.reject(new Error('window closed')), () => 'yard'];
    const answers = new InputAnswers(() => replies.shift()?.());
    expect(await answers.answersFor(spec('one', 'room'))).toMatchObject({
      failure: {
        code: 'variable-missing',
        message: expect.stringMatching(/'one'.*\$\{input:room\}/),
        hint: expect.stringContaining('Retry'),
      },
    });
    expect(await answers.answersFor(spec('one', 'room'))).toMatchObject({
      failure: { code: 'variable-missing', message: expect.stringMatching(/input:room.*window closed/) },
    });
    expect(await answers.answersFor(spec('one', 'room'))).toEqual({ values: { 'input:room': 'yard' } });
  });

  it('is the default of the file if no request is possible, and otherwise missing.', async () => {
    const answers = new InputAnswers(undefined);
    expect(await answers.answersFor(spec('one', 'room'))).toEqual({ values: { 'input:room': 'hall' } });
    expect(await answers.answersFor(spec('one', 'room', 'key'))).toMatchObject({
      failure: {
        message: expect.stringContaining('${input:key}'),
        hint: expect.stringContaining('askInput'),
      },
    });
  });

  it('is not requested for an entry without inputs.', async () => {
    const answers = new InputAnswers(() => Promise.reject(new Error('asked')));
    expect(await answers.answersFor(spec('one'))).toEqual({ values: {} });
  });
});

describe('the inputs of a file', () => {
  const LAMP = '"servers": { "a": { "command": "x" } }';
  const read = (text: string) => parseConfigText(text, 'kit.json');

  it('may be at the top level or beside the servers under mcp.', () => {
    expect([...read(`{ "inputs": [{ "id": "a" }], ${LAMP} }`).inputs.keys()]).toEqual(['a']);
    expect([...read(`{ "mcp": { "inputs": [{ "id": "b" }], ${LAMP} } }`).inputs.keys()]).toEqual(['b']);
  });

  it.each(['3', '[3]', '[{ "name": "a" }]', '[{ "id": 1 }, { "id": "a" }]'])(
    'are reported if they are invalid, and the servers stay: %s',
    (inputs) => {
      const { entries, problems } = read(`{ ${LAMP},\n "inputs": ${inputs} }`);
      expect(entries).toHaveLength(1);
      expect(problems.map(problemLine)).toEqual(["kit.json:2:2: field 'inputs': wrong-type"]);
    },
  );
});
