import { describe, expect, it } from 'vitest';
import { childAddress, connectionName, isAddress, MANAGER } from '../../src/event-log/address.js';
import { useLeakCheck } from '../support/leak-check.js';

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
  });

  it.each(['', 'files', '$/', '$/files', '$/files#0', '$/files#x', '$//a#1', '$/a#1/', 1, null])(
    'has its form: %j is none.',
    (value) => expect(isAddress(value)).toBe(false),
  );
});
