/** A remote server that no longer accepts connections: a call that never reached it was not sent, however the session ends. */
import { expect, it } from 'vitest';
import { NotReadyError } from '../../../src/errors.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { text } from '../../support/scripted-server.js';
import { answer, mcp, startServer } from '../../support/http-server.js';

useLeakCheck();
useCrashWatch();

const TOOLS = { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
const handle = mcp({
  request: (seen, res) => answer(res, seen, seen.rpc.method === 'tools/list' ? TOOLS : text('done')),
});

it('a call that cannot reach its server is repeated until no attempt is left, and then rejected as not sent', async () => {
  const server = await startServer((seen, res) => {
    // A pooled connection would be reset instead, and then it is unknown whether the server read the call.
    res.setHeader('connection', 'close');
    handle(seen, res);
  });
  const policy = { maxAttempts: 2, backoff: [10] };
  const troupe = createTroupe({ servers: { a: { type: 'http', url: server.url, policy } }, cache: false });
  try {
    await troupe.start();
    const events = recordEvents(troupe.events$);
    await server.close();
    await expect(troupe.callTool('mcp__a__echo')).rejects.toBeInstanceOf(NotReadyError);
    const outcomes = events.of('call.finished').map(({ outcome }) => outcome);
    expect(outcomes.length).toBeGreaterThan(1);
    expect(new Set(outcomes)).toEqual(new Set(['not-sent']));
    expect(events.of('connection.lost')).toHaveLength(1);
  } finally {
    await troupe.close();
    await server.close();
  }
});
