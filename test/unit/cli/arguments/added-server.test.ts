import { describe, expect, it } from 'vitest';
import { splitWords, toAddedServer } from '../../../../src/cli/arguments/flags.js';

describe('--add', () => {
  it('takes an address as a remote server, whatever stands in it.', () => {
    expect(toAddedServer('docs=https://example.com/mcp?team=a=b')).toEqual({
      name: 'docs',
      config: { url: 'https://example.com/mcp?team=a=b' },
    });
    expect(toAddedServer('docs=HTTP://127.0.0.1:1/mcp').config).toEqual({ url: 'HTTP://127.0.0.1:1/mcp' });
  });

  it('takes everything else as a command line.', () => {
    expect(toAddedServer('files = node server.js --root=/srv')).toEqual({
      name: 'files',
      config: { command: 'node', args: ['server.js', '--root=/srv'] },
    });
  });

  it.each(['files', '=node', 'files=', 'files=  ', '', "files='' x"])(
    'refuses %j, which names no server or no command.',
    (text) => {
      expect(() => toAddedServer(text)).toThrow(/^--add/);
    },
  );

  it('never repeats the value in what it says, since that may be secret.', () => {
    expect(() => toAddedServer("files=node 'hunter2")).toThrow(/^--add files: a quote is not closed$/);
    expect(() => toAddedServer('hunter2')).toThrow(/^--add: expected NAME=COMMAND-OR-URL$/);
  });
});

describe('a command line', () => {
  it.each([
    ['a  b\tc', ['a', 'b', 'c']],
    [`a 'b c' "d 'e'"`, ['a', 'b c', `d 'e'`]],
    [`a --x='b c'd`, ['a', '--x=b cd']],
    [`a "" b`, ['a', '', 'b']],
    [String.raw`C:\bin\node.exe C:\x y`, [String.raw`C:\bin\node.exe`, String.raw`C:\x`, 'y']],
    ['  ', []],
  ])('%j has the words %j.', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  it('with a quote that is not closed has none.', () => {
    expect(splitWords('a "b')).toBeUndefined();
  });
});
