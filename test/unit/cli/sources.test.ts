/** Which sources the flags choose. */
import { describe, expect, it } from 'vitest';
import { sourcesOf } from '../../../src/cli/configured-servers.js';

const lamp = { name: 'lamp', config: { command: 'lamp' } };

describe('the sources of a command', () => {
  it.each([
    ['no flag', {}, true],
    ['an added server', { add: [lamp] }, true],
    ['a file', { config: ['a.json'] }, false],
    ['a file and an added server', { config: ['a.json'], add: [lamp] }, false],
    ['a file and --discover', { config: ['a.json'], discover: true }, true],
    ['an added server and --no-discover', { add: [lamp], discover: false }, false],
  ])('with %s', (_, flags, discover) => {
    expect(sourcesOf({ config: [], add: [], ...flags }).discover).toBe(discover);
  });

  it('are trusted if the user names the file', () => {
    expect(sourcesOf({ config: ['a.json'], add: [lamp] })).toMatchObject({
      config: [{ path: 'a.json', trust: 'all' }],
      servers: { lamp: lamp.config },
    });
  });
});
