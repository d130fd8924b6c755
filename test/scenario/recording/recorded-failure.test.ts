/** A recorded connection in a state that a server cannot end: only a call, a timer or the user can. */
import { describe, expect, it } from 'vitest';
import { LogParser } from '../../../src/event-log/format/read-log.js';
import { recordedConnection, type RecordedConnection } from '../../../src/testing/recorded-sessions.js';
import type { TransportKind } from '../../../src/transports/session-transport.js';
import { MemoryLog } from '../../support/memory-log.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse } from '../../support/scripted-server.js';
import { passTime, useTroupes, whenState, type TestTroupe } from '../../support/test-troupe.js';

useLeakCheck();
const troupes = useTroupes();

/** The server rejects only the first `initialize`; `again` makes the connection try once more. */
async function recorded(kind: TransportKind, again: (test: TestTroupe) => Promise<unknown>) {
  const target = new MemoryLog();
  const server = new FakeServer(() => ({ kind }), { on: { initialize: [refuse(-32_001, 'not today'), {}] } });
  const policy = { maxAttempts: 1, exhausted: { callAfterMs: 0, remoteEveryMs: 60_000 } };
  const test = troupes.make({ servers: { files: fake(server, { policy }) }, record: { target } });
  await passTime(test.clock, test.troupe.start());
  await passTime(test.clock, whenState(test, 'files', 'failed'));
  await passTime(test.clock, again(test));
  await passTime(test.clock, whenState(test, 'files', 'ready'), 120_000);
  await passTime(test.clock, test.troupe.close());
  return connectionOf(target);
}

function connectionOf({ text }: MemoryLog): RecordedConnection {
  const parser = new LogParser();
  const pieces = [...parser.push(new TextEncoder().encode(text)), ...parser.end()];
  const entries = pieces.flatMap((piece) => (piece.type === 'entry' ? [piece.entry] : []));
  return recordedConnection(entries, 'files');
}

describe('the recording of a connection that gave up', () => {
  it('ends at the failure, even if a call caused another attempt', async () => {
    const call = ({ troupe }: TestTroupe) => troupe.connection('files')!.callTool('echo');
    const { states, sessions } = await recorded('in-process', call);
    expect(states).toEqual(['configuring', 'launching', 'handshaking', 'failed']);
    expect(sessions).toHaveLength(2);
  });

  it('ends at the failure, even if the timer for remote servers caused another attempt', async () => {
    const { states, sessions } = await recorded('http', () => Promise.resolve());
    expect(states).toEqual(['configuring', 'launching', 'handshaking', 'failed']);
    expect(sessions).toHaveLength(2);
  });
});

describe('the recording of a connection that needs a sign-in', () => {
  it('ends before the sign-in, even if the session was lost because of it', async () => {
    const target = new MemoryLog();
    const server = new FakeServer(() => ({ kind: 'http' }));
    const test = troupes.make({ servers: { files: fake(server) }, record: { target } });
    await passTime(test.clock, test.troupe.start());
    server.transport.simulateEnd({ code: 'auth-required', message: 'It asks for a token.' });
    await passTime(test.clock, whenState(test, 'files', 'configuring'));
    await passTime(test.clock, test.troupe.close());
    const { states, sessions } = connectionOf(target);
    expect(states).toEqual(['configuring', 'launching', 'handshaking', 'ready']);
    expect(sessions[0]?.lost?.failure.code).toBe('auth-required');
  });
});
