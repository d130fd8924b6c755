import { describe, expect, it } from 'vitest';
import {
  childAddress,
  connectionName,
  isAddress,
  isMachineAddress,
  MANAGER,
  rootAddress,
  rootId,
  rootKind,
} from '../../../src/actor-system/actor-path.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

describe('an address', () => {
  it.each(['', 'files', 'a/b', 'a#1', '50%', '%2F', '__proto__', 'ä\n', '#/%'])(
    'gives back the name of the connection: %j.',
    (name) => {
      const connection = childAddress(MANAGER, name, 2);
      const effect = childAddress(connection, 'openTransport', 31);
      expect([connection, effect].every(isAddress)).toBe(true);
      expect(connectionName(connection)).toBe(name);
      expect(connectionName(effect)).toBe(name);
    },
  );

  it('of the manager names no connection.', () => {
    expect(isAddress(MANAGER)).toBe(true);
    expect(connectionName(MANAGER)).toBeUndefined();
    expect(rootId(MANAGER)).toBeUndefined();
  });

  it.each(['configuration', 'signIn:1', 'signIn:12', 'odd/id#1%'])(
    'returns the id of a machine other than the manager: %j.',
    (id) => {
      const root = rootAddress(id, 2);
      const effect = childAddress(root, 'watchFiles', 1);
      expect([root, effect].every(isAddress)).toBe(true);
      expect([rootId(root), rootId(effect)]).toEqual([id, id]);
      expect([connectionName(root), connectionName(effect)]).toEqual([undefined, undefined]);
      expect([isMachineAddress(root), isMachineAddress(effect)]).toEqual([true, false]);
    },
  );

  it.each([':configuration', ':signIn:1#1', '$:configuration#1'])(
    'is unambiguous for a connection that is named like another address: %j.',
    (name) => {
      const connection = childAddress(MANAGER, name, 1);
      expect(isAddress(connection)).toBe(true);
      expect(connectionName(connection)).toBe(name);
      expect(rootId(connection)).toBeUndefined();
    },
  );

  it('contains the kind of a machine in its id.', () => {
    expect(['configuration', 'signIn:1', 'signIn:2:3'].map(rootKind)).toEqual([
      'configuration',
      'signIn',
      'signIn',
    ]);
  });

  it.each([
    '',
    'files',
    '$/',
    '$/files',
    '$/files#0',
    '$/files#x',
    '$//a#1',
    '$/a#1/',
    '$:',
    '$:a',
    '$:#1',
    '$:a#0',
    '$:a#1#1',
    '$:a/b#1#2',
    1,
    null,
  ])('is not %j.', (value) => expect(isAddress(value)).toBe(false));
});
