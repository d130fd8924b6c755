import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { splitWords, toAddedServer } from '../../../../src/cli/arguments/flags.js';

describe('--add', () => {
  it('takes a URL as a remote server, whatever it contains.', () => {
    expect(toAddedServer('docs=https://example.com/mcp?team=a=b')).toEqual({
      name: 'docs',
      config: { url: 'https://example.com/mcp?team=a=b' },
    });
    for (const url of ['HTTP://127.0.0.1:1/mcp', 'unix:///run/s.sock#/mcp', 'ftp://example.com'])
      expect(toAddedServer(`docs=${url}`).config).toEqual({ url });
  });

  it('takes everything else as a command line.', () => {
    expect(toAddedServer('files = node server.js --root=/srv')).toEqual({
      name: 'files',
      config: { command: 'node', args: ['server.js', '--root=/srv'] },
    });
  });

  it('makes paths absolute that begin with a dot: the program starts at home.', () => {
    const here = process.cwd();
    expect(toAddedServer('files=./run.sh ../a . .. .hidden a/b --root=./c @scope/x').config).toEqual({
      command: join(here, 'run.sh'),
      args: [join(here, '../a'), here, dirname(here), '.hidden', 'a/b', '--root=./c', '@scope/x'],
    });
  });

  it.each(['files', '=node', 'files=', 'files=  ', '', "files='' x"])(
    'refuses %j, which has no server name or no command.',
    (text) => {
      expect(() => toAddedServer(text)).toThrow(/^--add/);
    },
  );

  it('never repeats the value in an error, since it may be secret.', () => {
    expect(() => toAddedServer("files=node 'hunter2")).toThrow(/^(?!.*hunter2)--add files:/);
    expect(() => toAddedServer('hunter2')).toThrow(/^(?!.*hunter2)--add:/);
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
  ])('%j splits into the words %j.', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  it('with an unclosed quote has no words.', () => {
    expect(splitWords('a "b')).toBeUndefined();
  });
});
