/** The mask of the host, over everything that leaves a troupe. */
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import type { TroupeOptions } from '../../../src/options.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useLeakCheck } from '../../support/leak-check.js';

const SECRET = 'ACME-4711';

/** Everything that a troupe says about a server which repeats the secret wherever it can. */
async function said(options: TroupeOptions): Promise<string> {
  const log = new MemoryLog();
  const server = new ScriptedServer({
    tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    on: { 'tools/call': { error: { code: -1, message: `no ${SECRET}` } } },
  });
  const outputs: unknown[] = [];
  const troupe = createTroupe({
    servers: { docs: { type: 'in-process', server } },
    record: { target: log, bodies: true },
    inspector: (copy: { event?: unknown; snapshot?: { context?: unknown } }) =>
      void outputs.push(copy.event, copy.snapshot?.context),
    cache: false,
    ...options,
  });
  troupe.events$.subscribe((event) => outputs.push(event));
  await troupe.start();
  server.notify('notifications/message', { level: 'info', data: SECRET });
  server.notify('notifications/extra', { [SECRET]: SECRET });
  await troupe
    .connection('docs')
    ?.callTool('echo', {})
    .catch((error: unknown) => outputs.push(String(error)));
  server.script = { on: { initialize: { error: { code: -2, message: SECRET } } } };
  await server.die();
  await troupe
    .connection('docs')
    ?.ready({ signal: AbortSignal.timeout(20) })
    .catch(() => {});
  outputs.push(troupe.status);
  await troupe.close();
  return JSON.stringify(outputs) + log.text;
}

describe('the option redact', () => {
  useLeakCheck();

  it('masks what only the host knows in events, the log, errors, the status and the inspector', async () => {
    expect(await said({})).toContain(SECRET);
    const masked = await said({ redact: (text) => text.replaceAll(SECRET, '***') });
    expect(masked).not.toContain(SECRET);
    expect(masked).toContain('***');
  });

  it.each<[string, (text: string) => string]>([
    ['throws', (text) => { throw new Error(`cannot redact ${text}`); }], // prettier-ignore
    ['returns no text', () => undefined as never],
    ['is asynchronous', (async (text: string) => Promise.reject(new Error(text))) as never],
  ])('masks whole texts if it %s, and says so once', async (_, redact) => {
    const masked = await said({ redact });
    expect(masked).not.toContain(SECRET);
    expect(masked.match(/"redact-failed"/g)).toHaveLength(1);
  });

  it('must be a function', () => {
    expect(() => createTroupe({ redact: 'all' as never })).toThrow(ConfigError);
  });
});
