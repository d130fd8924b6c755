/** The call for which a server asks: known or unknown, never wrong. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import type { ServerRequestContext } from '../../../src/server-requests/handlers.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, tool } from '../../support/scripted-server.js';
import { useTroupes } from '../../support/test-troupe.js';
import { askDuringCall, FORM, NAME, startAsking, type Asking } from './asking-server.js';

describe('a question', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('during the only call belongs to it, and its handler gets the context of the call', async () => {
    const origins: unknown[] = [];
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: (_, { origin }) => {
          origins.push(origin);
          return { action: 'decline' };
        },
      },
      {},
      askDuringCall(() => asking, 'elicitation/create', FORM),
    );
    const context = { who: 'Ada' };
    await asking.troupe.callTool(NAME, { a: 1 }, { context });
    expect(origins).toEqual([{ method: 'tools/call', name: 'echo', call: 1, context }]);
    expect((origins[0] as { context: unknown }).context).toBe(context);
    expect(JSON.stringify(asking.server.received)).not.toContain('Ada');
    expect(JSON.stringify(asking.events.all)).not.toContain('Ada');
  });

  it('outside a call, or during two calls, belongs to no call', async () => {
    const origins: unknown[] = [];
    const { ask, troupe, server } = await startAsking(
      make,
      {
        elicitation: (_, { origin }) => {
          origins.push(origin);
          return { action: 'decline' };
        },
      },
      {},
      { on: { 'tools/call': silent } },
    );
    await ask('elicitation/create', FORM);
    const controllers = [new AbortController(), new AbortController()];
    const calls = controllers.map(({ signal }, n) => troupe.callTool(NAME, {}, { signal, context: n }));
    for (const call of calls) call.catch(() => {});
    await server.whenReceived('tools/call', 2);
    await ask('elicitation/create', FORM);
    expect(origins).toEqual([undefined, undefined]);
    for (const controller of controllers) controller.abort();
    await Promise.allSettled(calls);
  });

  it('after an aborted call belongs to no call until the server has answered the aborted one', async () => {
    const origins: unknown[] = [];
    const first = createGate();
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: (_, { origin }) => {
          origins.push(origin?.context);
          return { action: 'decline' };
        },
      },
      {},
      {
        on: {
          'tools/call': async ({ arguments: args }) => {
            if ((args as { who: string }).who === 'Ada') await first.promise;
            else await asking.ask('elicitation/create', FORM);
            return text('done');
          },
        },
      },
    );
    const { troupe, server } = asking;
    const controller = new AbortController();
    const call = troupe.callTool(NAME, { who: 'Ada' }, { signal: controller.signal, context: 'Ada' });
    call.catch(() => {});
    await server.whenReceived('tools/call');
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    await troupe.callTool(NAME, { who: 'Bob' }, { context: 'Bob' });
    expect(origins).toEqual([undefined]);
    first.open();
    await asking.ask('ping');
    await troupe.callTool(NAME, { who: 'Bob' }, { context: 'Bob' });
    expect(origins).toEqual([undefined, 'Bob']);
  });

  it('belongs to the only call again ten minutes after another one timed out', async () => {
    const origins: unknown[] = [];
    const { ask, troupe, server, clock } = await startAsking(
      make,
      {
        elicitation: (_, { origin }) => {
          origins.push(origin?.context);
          return { action: 'decline' };
        },
      },
      {},
      { on: { 'tools/call': silent } },
    );
    const call = troupe.callTool(NAME, {}, { timeoutMs: 10, context: 'Ada' });
    call.catch(() => {});
    await server.whenReceived('tools/call');
    await clock.advance(10);
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    const controller = new AbortController();
    const another = troupe.callTool(NAME, {}, { timeoutMs: 0, signal: controller.signal, context: 'Bob' });
    another.catch(() => {});
    await server.whenReceived('tools/call', 2);
    await ask('elicitation/create', FORM);
    await clock.advance(600_000);
    await ask('elicitation/create', FORM);
    expect(origins).toEqual([undefined, 'Bob']);
    controller.abort();
    await Promise.allSettled([another]);
  });

  it('that names its request is assigned to the right one of several calls', async () => {
    const bothAsk = createGate();
    let arrived = 0;
    const server = new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [tool('echo')] }));
    server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
      arrived += 1;
      if (arrived === 2) bothAsk.open();
      await bothAsk.promise;
      const question = { method: 'elicitation/create', params: FORM } as const;
      const { content } = await extra.sendRequest(structuredClone(question) as never, ElicitResultSchema);
      return text(`${String(request.params.arguments?.['who'])} is ${String(content?.['name'])}`);
    });
    const handlers = {
      elicitation: (_: unknown, { origin }: ServerRequestContext) => ({
        action: 'accept' as const,
        content: { name: String(origin?.context) },
      }),
    };
    const { troupe } = make({ servers: { a: { type: 'in-process', server } }, handlers });
    await troupe.start();
    const results = await Promise.all(
      ['Ada', 'Bob'].map((who) => troupe.callTool(NAME, { who }, { context: who })),
    );
    expect(results).toEqual([text('Ada is Ada'), text('Bob is Bob')]);
  });
});
