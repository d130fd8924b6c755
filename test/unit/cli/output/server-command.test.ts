import { describe, expect, it } from 'vitest';
import { serverCommand } from '../../../../src/cli/output/server-command.js';

describe('the command for one server', () => {
  it.each(['lamp', 'a.b', '@team/lamp', 'mcp+lamp:1', 'lamp-2'])('names a server called %j.', (name) => {
    expect(serverCommand('trust', name)).toBe(`troupe trust ${name}`);
    expect(serverCommand('login', name)).toBe(`troupe login ${name}`);
  });

  it.each(['x; rm -rf ~', '$(reboot)', 'a b', '-x', '`id`', "it's", 'a\nb', ''])(
    'has no copyable form for a server called %j.',
    (name) => {
      expect(serverCommand('trust', name)).toBe("'troupe trust' with its name");
      expect(serverCommand('login', name)).toBe("'troupe login' with its name");
    },
  );
});
