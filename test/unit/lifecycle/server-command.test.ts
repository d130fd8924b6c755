import { describe, expect, it } from 'vitest';
import { serverCommand } from '../../../src/lifecycle/server-command.js';

describe('the command for one server', () => {
  it.each(['lamp', 'a.b', '@team/lamp', 'mcp+lamp:1', 'lamp-2'])('names a server called %j.', (name) => {
    expect(serverCommand('trust', name)).toBe(`troupe trust ${name}`);
    expect(serverCommand('login', name)).toBe(`troupe login ${name}`);
  });

  it.each([
    ['x; rm -rf ~', "'x; rm -rf ~'"],
    ['$(reboot)', "'$(reboot)'"],
    ['a b', "'a b'"],
    ['-x', '-- -x'],
    ['-x y', "-- '-x y'"],
    ['`id`', "'`id`'"],
    ["it's", String.raw`'it'\''s'`],
  ])('quotes the name of a server called %j.', (name, word) => {
    expect(serverCommand('trust', name)).toBe(`troupe trust ${word}`);
    expect(serverCommand('login', name)).toBe(`troupe login ${word}`);
  });

  it.each(['a\nb', '', 'p\u0430ge', 'a\u200bb'])('has no copyable form for a server called %j.', (name) => {
    expect(serverCommand('trust', name)).toBe("'troupe trust' with its name");
    expect(serverCommand('login', name)).toBe("'troupe login' with its name");
  });
});
