import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeServer, fakeProgram } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { library } from '../../support/library-server.js';
import { refuse } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';

const SECRET = 's3cr3t-token-of-the-entry';

describe('a secret of an entry', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('is in no event and no error, wherever the server repeats it', async () => {
    const script = library({
      resources: [`x:${SECRET}`],
      templates: [`x:${SECRET}/{id}`],
      prompts: [SECRET],
      on: {
        'resources/read': refuse(-32603, `bad ${SECRET}`, { why: SECRET }),
        'resources/subscribe': refuse(-32603, SECRET),
        'logging/setLevel': refuse(-32603, SECRET),
      },
    });
    const server = new FakeServer(() => ({}), script);
    const entry = { ...fakeProgram(server), env: { TOKEN: SECRET } };
    const { troupe, clock, events } = make({ servers: { a: entry } });
    await passTime(clock, troupe.settled());
    expect(troupe.resources).toHaveLength(1);
    const failures: unknown[] = [];
    const collect = (error: unknown): number => failures.push(error);
    await troupe.readResource(`x:${SECRET}`).catch(collect);
    await troupe.subscribe(`x:${SECRET}`).catch(collect);
    await troupe.setLogLevel('debug').catch(collect);
    server.peer.notify('notifications/resources/updated', { uri: `x:${SECRET}` });
    await clock.advance(0);
    const published = events.all.map((event) => JSON.stringify(event)).join('\n');
    expect(published).toContain('resource.updated');
    expect(published).toContain('log-level');
    expect(published).not.toContain(SECRET);
    expect(failures).toHaveLength(2);
    for (const failure of failures) {
      const { message, cause, data } = failure as Error & { readonly data: unknown };
      expect(JSON.stringify([message, String(cause), data])).not.toContain(SECRET);
    }
  });
});
