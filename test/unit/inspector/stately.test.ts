/** Inspectors of the host and viewers of the Stately protocol, tested with the package that defines it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  createBrowserReceiver,
  createInspector,
  createWebSocketInspector,
  type StatelyInspectionEvent,
} from '@statelyai/inspect';
import { describe, expect, it } from 'vitest';
import type { InspectionCopy } from '../../../src/inspector/inspection-copies.js';
import { toStately, type StatelyMessage } from '../../../src/inspector/stately.js';
import type { TroupeOptions } from '../../../src/options.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';
import { PageClient } from '../../support/page-client.js';

useInotify();
useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

const PARROT = fileURLToPath(new URL('../../support/parrot.mjs', import.meta.url));
const files = (): ScriptedServer => new ScriptedServer({ tools: [tool('read')] });
const make = (options: TroupeOptions = {}) =>
  troupes.make({ servers: { files: inProcess(files()) }, ...options });

/** An inspector that keeps the messages the package would send. */
function packageInspector() {
  const sent: StatelyInspectionEvent[] = [];
  const inspector = createInspector({ send: (event) => void sent.push(event) });
  return { inspect: inspector.inspect, sent };
}

/** The package builds its messages one event loop turn later. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("the host's inspector", () => {
  it('of @statelyai/inspect gets every actor, event and snapshot, by address.', async () => {
    const { inspect, sent } = packageInspector();
    const { troupe, clock } = make({ inspector: inspect });
    await troupe.start();
    await passTime(clock, troupe.close());
    await nextTurn();
    const actors = sent.filter(({ type }) => type === '@xstate.actor');
    expect(actors.map(({ sessionId }) => sessionId)).toEqual(
      expect.arrayContaining(['$', '$/files#1', '$/files#1/resolveConfig#1', '$/files#1/handshake#1']),
    );
    const events = sent.flatMap((event) => (event.type === '@xstate.event' ? [event] : []));
    expect(events.map(({ sessionId, event }) => [sessionId, event.type])).toContainEqual([
      '$/files#1',
      'xstate.done.actor.readTools',
    ]);
    const last = sent.findLast(({ type, sessionId }) => type === '@xstate.snapshot' && sessionId === '$');
    expect(last).toMatchObject({ snapshot: { status: 'active', value: { phase: 'closed' } }, rootId: '$' });
  });

  it('may be of any kind, and gets nothing after the end.', async () => {
    const copies: InspectionCopy[] = [];
    const { troupe, clock } = make({ inspector: (copy: InspectionCopy) => void copies.push(copy) });
    await troupe.start();
    await passTime(clock, troupe.close());
    const { length } = copies;
    expect(length).toBeGreaterThan(50);
    expect(() => troupe.setOnline(true)).not.toThrow();
    expect(copies).toHaveLength(length);
    // A socket without a server: its only part in the runtime is the observer.
    const { inspect } = createWebSocketInspector({ url: 'ws://127.0.0.1:1', autoStart: false });
    expect(() => make({ inspector: inspect })).not.toThrow();
  });

  it('cannot reach an actor.', async () => {
    const copies: InspectionCopy[] = [];
    const { troupe } = make({ inspector: { next: (copy: InspectionCopy) => void copies.push(copy) } });
    await troupe.start();
    const [actor] = copies;
    expect(actor).toMatchObject({ type: '@xstate.actor', actorRef: { id: 'manager' } });
    expect(Object.keys(actor?.actorRef ?? {}).toSorted()).toEqual([
      '_parent',
      'getSnapshot',
      'id',
      'logic',
      'sessionId',
    ]);
    expect(() => structuredClone(actor?.actorRef.getSnapshot())).not.toThrow();
  });

  it('that throws is reported once, gets nothing more, and affects nothing else.', async () => {
    let calls = 0;
    const inspector = (): never => {
      calls += 1;
      throw new Error('out of paper');
    };
    const { troupe, events } = make({ inspector });
    await troupe.start();
    expect(troupe.connection('files')?.state).toBe('ready');
    expect(calls).toBe(1);
    expect(events.of('diagnostic').map(({ kind }) => kind)).toEqual(['inspector-failed']);
  });

  it.each([1, {}, { next: 1 }, 'inspect'])('is refused if it is invalid: %j', (inspector) => {
    expect(() => make({ inspector: inspector as never })).toThrow("'inspector'");
  });
});

describe('the messages of the Stately protocol', () => {
  it('are the same that the package builds from the same events.', async () => {
    const { inspect, sent } = packageInspector();
    const own: StatelyMessage[] = [];
    const { troupe, clock } = make({
      inspector: (copy: InspectionCopy) => {
        inspect.next?.(copy as never);
        own.push(toStately(copy, 0));
      },
    });
    await troupe.start();
    await passTime(clock, troupe.close());
    await nextTurn();
    expect(own.length).toBe(sent.length);
    for (const [index, theirs] of sent.entries()) {
      const ours = JSON.parse(JSON.stringify(own[index])) as Record<string, unknown>;
      const same = JSON.parse(JSON.stringify(theirs)) as Record<string, unknown>;
      // The package builds them later, so the time differs, and the first snapshot of an actor is a later one.
      const drop = theirs.type === '@xstate.actor' ? ['createdAt', 'snapshot', 'definition'] : ['createdAt'];
      for (const field of drop) {
        expect(typeof ours[field]).toBe(typeof same[field]);
        delete ours[field];
        delete same[field];
      }
      expect(ours).toEqual(same);
    }
    const manager = own[0];
    expect(manager).toMatchObject({
      type: '@xstate.actor',
      name: 'manager',
      snapshot: { value: { phase: 'idle' } },
    });
    const chart = manager?.type === '@xstate.actor' ? (JSON.parse(manager.definition) as object) : {};
    expect(chart).toMatchObject({ id: 'manager', type: 'parallel', states: { phase: { initial: 'idle' } } });
  });

  it('are accepted by the receiver of the package, in the page of a viewer.', async () => {
    const { troupe } = make();
    const { url, statelyUrl } = await troupe.inspect({ stately: true });
    expect(new URL(statelyUrl ?? '')).toMatchObject({ pathname: '/stately', hash: new URL(url).hash });
    await troupe.start();
    const posted: object[] = [];
    const listeners: ((event: { data: unknown }) => void)[] = [];
    const parent = { postMessage: (message: object) => posted.push(message) };
    const window = {
      self: 'frame',
      top: 'page',
      parent,
      addEventListener: (_: string, listener: (event: { data: unknown }) => void) => listeners.push(listener),
    };
    const receiver = createBrowserReceiver({ window: window as never });
    const received: StatelyInspectionEvent[] = [];
    receiver.subscribe((event) => received.push(event));
    expect(posted).toEqual([{ type: '@statelyai.connected' }]);

    const stream = await new PageClient(url).watch('/api/stately');
    await stream.until(({ messages }) => messages.length >= 2);
    await troupe.connection('files')?.stop();
    await stream.until(({ messages }) => messages.some((data) => JSON.stringify(data).includes('"stopped"')));
    for (const data of stream.messages) for (const listener of listeners) listener({ data });
    expect(received).toHaveLength(stream.messages.length);
    expect(received.slice(0, 2)).toMatchObject([
      { type: '@xstate.actor', name: 'manager', sessionId: '$' },
      { type: '@xstate.actor', name: 'files', sessionId: '$/files#1', parentId: '$', rootId: '$' },
    ]);
    await stream.leave();
  });

  it('are not sent without a bridge, whose page may frame only that viewer.', async () => {
    const { troupe } = make();
    const plain = new PageClient((await troupe.inspect()).url);
    expect((await plain.ask('/api/stately')).status).toBe(404);
    expect((await plain.ask('/stately')).status).toBe(404);
    const asked = await troupe.inspect({ stately: 'https://viewer.example/"><script>?a=1' });
    expect(asked.statelyUrl).toBeDefined();
    const page = new PageClient(asked.url);
    expect((await page.ask('/api/stately', { token: undefined })).status).toBe(401);
    const bridge = await page.ask('/stately', { token: undefined });
    expect(bridge.status).toBe(200);
    expect(bridge.headers['content-security-policy']).toContain('frame-src https://viewer.example;');
    expect(bridge.body.match(/<script/g)).toHaveLength(1);
    for (const stately of ['nowhere', 'javascript:alert(1)', 'file:///etc'])
      await expect(troupe.inspect({ stately })).rejects.toThrow("'stately'");
  });

  it('contain no secret of a server that repeats its own.', async () => {
    const secret = 'sk-stately-2Secret';
    const messages: string[] = [];
    const troupe = createTroupe({
      inspector: (copy: InspectionCopy) => void messages.push(JSON.stringify(toStately(copy, 0))),
      servers: {
        parrot: { command: process.execPath, args: [PARROT, 'polite'], env: { PARROT_KEY: secret } },
        refusing: {
          command: process.execPath,
          args: [PARROT, 'refusing'],
          env: { PARROT_KEY: secret },
          policy: { maxAttempts: 1 },
        },
      },
    });
    try {
      await troupe.start();
    } finally {
      await troupe.close();
    }
    expect(messages.join('\n')).toContain('xstate.done.actor.readTools');
    expect(messages.filter((text) => text.includes(secret))).toEqual([]);
  });

  it('have the version of the package that they were compared with.', () => {
    const manifest = readFileSync(
      fileURLToPath(new URL('../../../node_modules/@statelyai/inspect/package.json', import.meta.url)),
      'utf8',
    );
    const copy = { type: '@xstate.actor', rootId: '$', actorRef: { sessionId: '$', id: 'x', logic: {} } };
    const actor = { ...copy, actorRef: { ...copy.actorRef, getSnapshot: () => ({ status: 'active' }) } };
    expect(toStately(actor as never, 5)).toMatchObject({
      _version: (JSON.parse(manifest) as { version: string }).version,
      createdAt: '5',
    });
  });
});
