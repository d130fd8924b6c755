/** A host that is itself an XState machine, and invokes a troupe or one connection. */
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { assign, createActor, sendTo, setup, toPromise, waitFor, type AnyActorRef } from 'xstate';
import type { EventOf } from '../../../src/lifecycle/event-feed.js';
import type { Clock } from '../../../src/ports.js';
import type { TroupeOptions } from '../../../src/options.js';
import { fromConnection } from '../../../src/xstate/from-connection.js';
import { fromTroupe } from '../../../src/xstate/from-troupe.js';
import type { CommandFailed } from '../../../src/xstate/troupe-command.js';
import { troupeOf } from '../../../src/xstate/troupe-logic.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, makeTroupe, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
useTroupes();

const clock = createControlledClock();
const MISSING = { config: '/nowhere/missing.json' };
const servers = () => ({ a: inProcess(new ScriptedServer()), b: inProcess(new ScriptedServer()) });

/** On the controlled clock. */
const made = (options: TroupeOptions) => makeTroupe({ clock, seed: 1, ...options });

/** Starts the actor, and closes its troupe after the test. */
function run<T extends AnyActorRef & { start(): unknown }>(actor: T): T {
  actor.start();
  onTestFinished(async () => {
    const { troupe = actor } =
      (actor.getSnapshot() as { children?: Record<string, AnyActorRef> }).children ?? {};
    const closed = troupeOf(troupe)?.close();
    if (closed !== undefined) await passTime(clock, closed);
  });
  return actor;
}

const troupeActor = (options: TroupeOptions = { servers: servers() }) =>
  run(createActor(fromTroupe(() => made(options))));

const isReady = ({ context }: { context: { report: unknown } }): boolean => context.report !== undefined;

describe('a machine of the host', () => {
  const host = setup({
    types: {
      context: {} as { ready: readonly string[]; options: TroupeOptions },
      input: {} as { options: TroupeOptions },
    },
    actors: {
      troupe: fromTroupe(({ input }: { input: TroupeOptions }) => made(input)),
    },
  }).createMachine({
    context: ({ input }) => ({ ready: [], options: input.options }),
    initial: 'working',
    states: {
      working: {
        invoke: {
          id: 'troupe',
          src: 'troupe',
          input: ({ context }) => context.options,
          onSnapshot: {
            actions: assign(({ event }) => ({ ready: event.snapshot.context.report?.ready ?? [] })),
          },
          onError: 'broken',
          onDone: 'closed',
        },
        on: {
          rest: 'resting',
          restart: { actions: sendTo('troupe', { type: 'connection.restart', server: 'a' }) },
        },
      },
      resting: { entry: assign({ ready: [] }), on: { work: 'working' } },
      broken: {},
      closed: {},
    },
  });

  it('invokes a troupe with an input, sends it commands, and sees its snapshots', async () => {
    const actor = run(createActor(host, { input: { options: { servers: servers() } } }));
    const { children } = await waitFor(actor, ({ context }) => context.ready.length === 2);
    const { troupe } = children;
    const again = new Promise<EventOf<'connection.ready'>>((resolve) => {
      troupe?.on('connection.ready', (event) => event.generation === 2 && resolve(event));
    });
    actor.send({ type: 'restart' });
    expect(await passTime(clock, again)).toMatchObject({ server: 'a' });
    expect(troupe?.getSnapshot().context.tools.map(({ server }) => server)).toContain('b');
  });

  it('closes the troupe when it leaves the state, and gets a new one when it comes back', async () => {
    const actor = run(createActor(host, { input: { options: { servers: servers() } } }));
    const { children } = await waitFor(actor, ({ context }) => context.ready.length === 2);
    const troupe = troupeOf(children.troupe);
    actor.send({ type: 'rest' });
    expect(children.troupe?.getSnapshot().status).toBe('stopped');
    await passTime(clock, troupe!.close());
    expect(troupe!.status.map(({ state }) => state)).toEqual(['stopped', 'stopped']);
    actor.send({ type: 'work' });
    const again = await waitFor(actor, ({ context }) => context.ready.length === 2);
    expect(troupeOf(again.children.troupe)).not.toBe(troupe);
  });

  it('gets an error of the start, and the end if others close the troupe', async () => {
    const failing = run(createActor(host, { input: { options: MISSING } }));
    await waitFor(failing, (snapshot) => snapshot.matches('broken'));
    const closing = run(createActor(host, { input: { options: { servers: servers() } } }));
    const { children } = await waitFor(closing, ({ context }) => context.ready.length === 2);
    await passTime(clock, troupeOf(children.troupe)!.close());
    expect(closing.getSnapshot().value).toBe('closed');
  });
});

describe('fromTroupe()', () => {
  it('shows the same status and tools as the troupe, and nothing before the actor starts', async () => {
    const logic = fromTroupe(() => made({ servers: servers() }));
    const actor = createActor(logic);
    expect(actor.getSnapshot().context).toEqual({ status: [], tools: [], report: undefined });
    expect(troupeOf(actor)).toBeUndefined();
    run(actor);
    const { context } = await waitFor(actor, isReady);
    const troupe = troupeOf(actor)!;
    expect(context.report).toBe(await troupe.start());
    expect(context.status).toBe(troupe.status);
    expect(context.tools).toBe(troupe.tools);
    expect(JSON.parse(JSON.stringify(context))).toMatchObject({ status: [{ server: 'a' }, { server: 'b' }] });
  });

  it('takes options', async () => {
    const actor = run(createActor(fromTroupe({ servers: {} })));
    expect((await waitFor(actor, isReady)).context.report).toMatchObject({ ready: [] });
    actor.stop();
    await troupeOf(actor)?.close();
  });

  it('emits the events of the troupe, typed by their type', async () => {
    const actor = createActor(fromTroupe(() => made({ servers: servers() })));
    const types: string[] = [];
    const counts: number[] = [];
    actor.on('*', ({ type }) => types.push(type));
    actor.on('connection.ready', (event) => {
      expectTypeOf(event).toExtend<EventOf<'connection.ready'>>();
      expectTypeOf(event.toolCount).toBeNumber();
      counts.push(event.toolCount);
    });
    await waitFor(run(actor), isReady);
    expect(types).toContain('manager.started');
    expect(counts).toHaveLength(2);
  });

  it('accepts only commands, which are typed', () => {
    const actor = createActor(fromTroupe({}));
    type Sent = Parameters<typeof actor.send>[0];
    expectTypeOf<{ type: 'connection.stop'; server: string }>().toExtend<Sent>();
    expectTypeOf<{ type: 'network.offline' }>().toExtend<Sent>();
    expectTypeOf<{ type: 'connection.stop' }>().not.toExtend<Sent>();
    expectTypeOf<{ type: 'call.waiting'; server: string }>().not.toExtend<Sent>();
  });

  it('stops, starts and reloads connections on command', async () => {
    const actor = troupeActor();
    await waitFor(actor, isReady);
    const states = () => actor.getSnapshot().context.status.map(({ state }) => state);
    actor.send({ type: 'connection.stop', server: 'b' });
    await passTime(
      clock,
      waitFor(actor, () => states()[1] === 'stopped'),
    );
    actor.send({ type: 'connection.start', server: 'b' });
    await passTime(
      clock,
      waitFor(actor, () => states()[1] === 'ready'),
    );
    actor.send({ type: 'troupe.reload', servers: {} });
    await passTime(
      clock,
      waitFor(actor, () => states().length === 0),
    );
    expect(actor.getSnapshot().context.tools).toEqual([]);
  });

  it('passes on whether the network can be used', async () => {
    const actor = troupeActor({ servers: { far: { url: 'http://127.0.0.1:9/mcp' } } });
    const state = () => actor.getSnapshot().context.status[0]?.state;
    actor.send({ type: 'network.offline' });
    await passTime(
      clock,
      waitFor(actor, () => state() === 'reconnecting'),
    );
    await clock.advance(600_000);
    expect(state()).toBe('reconnecting');
    actor.send({ type: 'network.online' });
    await passTime(
      clock,
      waitFor(actor, () => state() === 'failed'),
      600_000,
    );
  });

  it('emits the rejection of a command that the state does not accept, and lives on', async () => {
    const actor = troupeActor();
    await waitFor(actor, isReady);
    const rejected = new Promise((resolve) => actor.on('connection.rejected', resolve));
    actor.send({ type: 'connection.retry', server: 'a' });
    expect(await rejected).toMatchObject({ server: 'a', state: 'ready', event: 'connection.retry' });
    expect(actor.getSnapshot().status).toBe('active');
  });

  it.each([
    [
      { type: 'connection.stop', server: 'x' },
      { code: 'NOT_FOUND', server: 'x' },
    ],
    [{ type: 'troupe.reload', servers: 7 }, { code: 'CONFIG_ERROR' }],
    [{ type: 'dance' }, { name: 'TypeError' }],
  ])('emits that %j failed, and lives on', async (command, error) => {
    const actor = troupeActor();
    await waitFor(actor, isReady);
    const failed = new Promise<CommandFailed>((resolve) => actor.on('command.failed', resolve));
    actor.send(command as never);
    const event = await passTime(clock, failed);
    expect(event.command).toBe(command);
    expect(event.error).toMatchObject(error);
    expect(actor.getSnapshot().status).toBe('active');
  });

  it('closes the troupe when it is stopped, even before the start is over', async () => {
    for (const wait of [true, false]) {
      const actor = troupeActor();
      if (wait) await waitFor(actor, isReady);
      actor.stop();
      const troupe = troupeOf(actor)!;
      await passTime(clock, troupe.close());
      expect(actor.getSnapshot().status).toBe('stopped');
      expect(troupe.status.every(({ state }) => state === 'stopped')).toBe(true);
    }
  });

  it('ends with what the start throws', async () => {
    const actor = createActor(fromTroupe(() => made(MISSING)));
    const ended = toPromise(actor);
    run(actor);
    await expect(ended).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
  });

  it('ends with an error for options that make no sense', async () => {
    const actor = createActor(fromTroupe({ tpyo: 1 } as never));
    const ended = toPromise(actor);
    actor.start();
    await expect(ended).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
  });

  it('ends with an error if the manager of the troupe dies', async () => {
    let timers = 0;
    const breaking: Clock = {
      now: () => clock.now(),
      clearTimeout: (handle) => clock.clearTimeout(handle),
      setTimeout(fn, ms) {
        timers += 1;
        if (timers === 1) throw new Error('the clock is broken');
        return clock.setTimeout(fn, ms);
      },
    };
    const actor = createActor(fromTroupe(() => made({ servers: servers(), clock: breaking })));
    const ended = toPromise(actor);
    run(actor);
    await expect(ended).rejects.toMatchObject({ code: 'NOT_READY', message: 'the clock is broken' });
  });

  it('ends with an error for a troupe that is closed already', async () => {
    const troupe = made({ servers: servers() });
    await passTime(clock, troupe.close());
    const actor = createActor(fromTroupe(() => troupe));
    const ended = toPromise(actor);
    actor.start();
    await expect(ended).rejects.toMatchObject({ code: 'NOT_READY' });
  });

  it('outputs the last status if others close the troupe', async () => {
    const actor = troupeActor();
    await waitFor(actor, isReady);
    const output = toPromise(actor);
    await passTime(clock, troupeOf(actor)!.close());
    expect(await output).toMatchObject([{ server: 'a', state: 'stopped' }, { server: 'b' }]);
  });

  it('persists its input, and starts a new troupe when it is restored', async () => {
    const logic = fromTroupe(({ input }: { input: { name: string } }) =>
      made({ servers: { [input.name]: inProcess(new ScriptedServer()) } }),
    );
    const before = run(createActor(logic, { input: { name: 'z' } }));
    await waitFor(before, isReady);
    const persisted = before.getPersistedSnapshot();
    expect(persisted).toMatchObject({ status: 'active', input: { name: 'z' } });
    expect(JSON.stringify(persisted)).not.toContain('ready');
    const after = run(createActor(logic, { snapshot: persisted, input: { name: 'unused' } }));
    expect(after.getSnapshot().context.status).toEqual([]);
    expect((await waitFor(after, isReady)).context.report).toMatchObject({ ready: ['z'] });
    expect(troupeOf(after)).not.toBe(troupeOf(before));
  });
});

describe('fromConnection()', () => {
  const isUp = ({ context }: { context: { status: { state: string } | undefined } }): boolean =>
    context.status?.state === 'ready';

  it('shows, emits and commands one connection', async () => {
    const actor = createActor(fromConnection('a', () => made({ servers: servers() })));
    const seen = new Set<unknown>();
    actor.on('*', (event) => seen.add('server' in event ? event.server : event.type));
    run(actor);
    const { context } = await waitFor(actor, isUp);
    expect(context.status).toBe(troupeOf(actor)!.connection('a')!.status);
    expect(new Set(context.tools.map(({ server }) => server))).toEqual(new Set(['a']));
    actor.send({ type: 'connection.stop' });
    await passTime(
      clock,
      waitFor(actor, (snapshot) => snapshot.context.status?.state === 'stopped'),
    );
    actor.send({ type: 'connection.start' });
    await passTime(clock, waitFor(actor, isUp));
    expect([...seen]).toEqual(['a']);
    expectTypeOf<{ type: 'troupe.reload' }>().not.toExtend<Parameters<typeof actor.send>[0]>();
  });

  it('sends no snapshot for what happens to other servers', async () => {
    const actor = run(createActor(fromConnection('a', () => made({ servers: servers() }))));
    await troupeOf(actor)!.settled();
    const before = actor.getSnapshot();
    await passTime(clock, troupeOf(actor)!.connection('b')!.restart());
    expect(actor.getSnapshot().context).toBe(before.context);
  });

  it('lives on if the server fails, and ends with an error if there is no such server', async () => {
    const broken = run(
      createActor(fromConnection('x', () => made({ servers: { x: { command: 'no-such-command' } } }))),
    );
    await waitFor(broken, ({ context }) => context.status?.state === 'failed');
    expect(broken.getSnapshot().status).toBe('active');
    const unknown = createActor(fromConnection('y', () => made({ servers: servers() })));
    const ended = toPromise(unknown);
    run(unknown);
    await expect(ended).rejects.toMatchObject({ code: 'NOT_FOUND', server: 'y' });
  });
});
