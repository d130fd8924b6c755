/** The host's policy about which tools need confirmation. */
import { describe, expect, it, vi } from 'vitest';
import type { ToolInfo } from '../../../src/catalog/registry.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const TOOLS = [tool('read', { annotations: { readOnlyHint: true } }), tool('write')];

async function begin(requiresConfirmation?: (tool: ToolInfo) => boolean) {
  const server = new ScriptedServer({ tools: TOOLS });
  const test = make({
    cache: false,
    servers: { fs: inProcess(server) },
    ...(requiresConfirmation && { requiresConfirmation }),
  });
  await passTime(test.clock, test.troupe.start());
  const required = test.troupe.tools.map((each) => each.requiresConfirmation);
  return { ...test, required };
}

describe('a tool', () => {
  it('leaves the question open if the host has no policy.', async () => {
    expect((await begin()).required).toEqual([null, null]);
  });

  it('needs confirmation if the policy of the host says so.', async () => {
    const policy = vi.fn(({ annotations }: ToolInfo) => annotations?.readOnlyHint !== true);
    const { required, troupe, events } = await begin(policy);
    expect(required).toEqual([false, true]);
    expect(policy.mock.calls[0]?.[0]).toMatchObject({
      name: 'mcp__fs__read',
      server: 'fs',
      tool: 'read',
      annotations: { readOnlyHint: true },
    });
    expect(policy.mock.calls[0]?.[0]).not.toHaveProperty('requiresConfirmation');
    expect(troupe.view({}).tools.map((each) => each.requiresConfirmation)).toEqual([false, true]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('needs confirmation if the policy throws, which is reported once for each tool.', async () => {
    const { required, troupe, clock, events } = await begin(() => {
      throw new Error('no rules');
    });
    expect(required).toEqual([true, true]);
    await passTime(clock, troupe.connection('fs')!.restart());
    expect(troupe.tools).toHaveLength(2);
    expect(events.of('diagnostic')).toMatchObject([
      {
        kind: 'confirmation-policy-failed',
        server: 'fs',
        tool: 'read',
        message: expect.stringMatching(/no rules/),
      },
      { kind: 'confirmation-policy-failed', server: 'fs', tool: 'write' },
    ]);
  });

  it.each([undefined, 'no', 0, Promise.resolve(false)])(
    'needs confirmation if the policy returns %j, which is not a boolean.',
    async (answer) => {
      const { required, events } = await begin(() => answer as never);
      expect(required).toEqual([true, true]);
      expect(events.of('diagnostic')[0]).toMatchObject({ kind: 'confirmation-policy-failed' });
    },
  );

  it('needs confirmation if the policy returns a promise, and a rejected promise has no effect.', async () => {
    const { required } = await begin((async () => {
      throw new Error('no rules');
    }) as never);
    expect(required).toEqual([true, true]);
  });
});
