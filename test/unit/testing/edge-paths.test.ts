/** Paths over every transition of a host's machine. */
import { describe, expect, it } from 'vitest';
import { assign, createActor, createMachine, fromPromise, setup, type EventObject } from 'xstate';
import {
  doneEvent,
  edgePaths,
  errorEvent,
  possibleEvents,
  walkEdgePath,
  type EdgeDriver,
  type EdgePath,
} from '../../../src/testing/edge-paths.js';

const door = setup({
  types: { context: {} as { tries: number }, events: {} as { type: 'open' | 'close' | 'lock' } },
  actors: { turnKey: fromPromise<string>(() => Promise.reject(new Error('not provided'))) },
  guards: { isTired: ({ context }) => context.tries >= 2 },
}).createMachine({
  id: 'door',
  context: { tries: 0 },
  initial: 'closed',
  states: {
    closed: { on: { open: 'open', lock: 'locking' } },
    open: { on: { close: 'closed' }, after: { 5_000: 'closed' } },
    locking: {
      entry: ({ context }) => ({ tries: context.tries + 1 }),
      invoke: { id: 'key', src: 'turnKey', onDone: 'locked', onError: 'closed' },
    },
    locked: { always: { guard: 'isTired', target: 'broken' }, type: 'atomic' },
    broken: {},
  },
});

const events = (snapshot: Parameters<typeof possibleEvents>[0]): EventObject[] => [
  ...possibleEvents(snapshot).filter(
    ({ type }) => !type.startsWith('xstate.done') && !type.startsWith('xstate.error'),
  ),
  ...(snapshot.matches('locking') ? [doneEvent('key', 'turned'), errorEvent('key', new Error('stuck'))] : []),
];

const stepsOf = ({ steps }: EdgePath): string[] => steps.map(({ event }) => event.type);

/** A door without a machine, written by hand, with or without a mistake. */
class Hinges implements EdgeDriver {
  #state = 'closed';

  constructor(private readonly moves: Readonly<Record<string, string>>) {}

  state(): string {
    return this.#state;
  }

  perform({ type }: EventObject): void {
    this.#state = this.moves[`${this.#state} ${type}`] ?? this.#state;
  }
}

const MOVES = {
  'closed open': 'open',
  'closed lock': 'locking',
  'open close': 'closed',
  'open xstate.after.5000.door.open': 'closed',
  'locking xstate.done.actor.key': 'locked',
  'locking xstate.error.actor.key': 'closed',
};

describe('the paths of a machine', () => {
  const { paths, missing } = edgePaths(door, { events });

  it('lead over each of its transitions by the shortest way.', () => {
    expect(paths.map(stepsOf)).toEqual([
      ['open'],
      ['lock'],
      ['open', 'close'],
      ['open', 'xstate.after.5000.door.open'],
      ['lock', 'xstate.done.actor.key'],
      ['lock', 'xstate.error.actor.key'],
    ]);
    expect(paths[2]?.title).toBe('door.open to door.closed, after open, close');
  });

  it('have a list of the transitions that no event leads over.', () => {
    expect(missing).toEqual(['door.locked||0']);
    expect(edgePaths(door, { events, maxSnapshots: 1 }).missing).toHaveLength(5);
  });

  it('include transitions without an event, and an event that is sent to a parent.', () => {
    const counter = setup({
      types: {
        context: {} as { count: number },
        events: {} as { type: 'tick' },
        input: {} as { from: number },
      },
      guards: { isFull: ({ context }) => context.count > 1 },
    }).createMachine({
      id: 'counter',
      context: ({ input }) => ({ count: input.from }),
      initial: 'counting',
      states: {
        counting: { always: { guard: 'isFull', target: 'full' }, on: { tick: 'ticked' } },
        ticked: { always: 'counting' },
        full: { type: 'final' },
      },
    });
    const inputs = [{ from: 0 }, { from: 2 }];
    const search = edgePaths(counter, { inputs });
    expect(search.missing).toEqual([]);
    expect(search.paths.map(stepsOf)).toEqual([[], ['tick'], ['tick']]);
    expect(search.paths[0]).toMatchObject({
      edge: 'counter.counting||0',
      title: 'counter.counting to counter.full, at the start',
      input: { from: 2 },
      start: 'full',
    });
  });

  it('rely on the machine for the completion of the children of a state.', () => {
    const work = createMachine({
      id: 'work',
      initial: 'busy',
      states: {
        busy: {
          initial: 'one',
          states: { one: { on: { next: 'end' } }, end: { type: 'final' } },
          onDone: 'over',
        },
        over: {},
      },
    });
    expect(
      edgePaths(work).paths.map(({ edge, steps }) => [edge, steps.map(({ event }) => event.type)]),
    ).toEqual([
      ['work.busy.one|next|0', ['next']],
      ['work.busy|xstate.done.state.work.busy|0', ['next']],
    ]);
  });

  it('test a wildcard with an event that no other transition handles.', () => {
    const mouse = createMachine({
      id: 'mouse',
      initial: 'still',
      states: {
        still: { on: { 'mouse.up': 'up', 'mouse.*': 'moved', '*': 'else' } },
        up: {},
        moved: {},
        else: {},
      },
    });
    const search = edgePaths(mouse);
    expect(search.missing).toEqual([]);
    expect(search.paths.map(stepsOf)).toEqual([['mouse.up'], ['mouse.anything'], ['anything']]);
  });

  it('consider the context that guards read only with a key.', () => {
    const bucket = createMachine({
      id: 'bucket',
      context: { drops: 0 },
      initial: 'filling',
      states: {
        filling: {
          on: {
            drop: [
              { guard: ({ context }) => context.drops === 2, target: 'full' },
              { actions: assign({ drops: ({ context }) => context.drops + 1 }) },
            ],
          },
        },
        full: {},
      },
    });
    expect(edgePaths(bucket).missing).toEqual(['bucket.filling|drop|0']);
    const search = edgePaths(bucket, { key: ({ value, context }) => JSON.stringify([value, context]) });
    expect(search.missing).toEqual([]);
    expect(search.paths.map(stepsOf)).toEqual([['drop'], ['drop', 'drop', 'drop']]);
  });

  it('can pass repeatedly through a state whose actor has a name in the system.', () => {
    const lamp = setup({ actors: { glow: fromPromise(() => Promise.resolve('done')) } }).createMachine({
      id: 'lamp',
      initial: 'off',
      states: {
        off: { on: { on: 'on' } },
        on: { invoke: { src: 'glow', id: 'glow', systemId: 'glow', onDone: 'off', onError: 'off' } },
      },
    });
    expect(edgePaths(lamp).missing).toEqual([]);
  });

  it('are refused for a value that is not a machine, and for a missing input or event.', () => {
    expect(() => edgePaths(null as never)).toThrow(TypeError);
    const picky = setup({ types: { input: {} as { name: string } } }).createMachine({
      id: 'picky',
      context: ({ input }) => ({ name: input.name }),
      initial: 'a',
      states: { a: { on: { go: { guard: ({ event }) => event['by'].name === 'me', target: 'b' } } }, b: {} },
    });
    expect(() => edgePaths(picky)).toThrow(/reading 'name'.*`inputs`/s);
    expect(() => edgePaths(picky, { inputs: [{ name: 'x' }] })).toThrow(/'go'.*"a".*`events`/s);
  });

  it.each(paths.map((path) => [path.title, path] as const))(
    'can be walked by an implementation: %s.',
    async (_, path) => {
      await expect(walkEdgePath(path, new Hinges(MOVES))).resolves.toBeUndefined();
    },
  );

  it('cannot be walked by one that behaves differently, and the error names the place.', async () => {
    const { 'open close': _, ...broken } = MOVES;
    await expect(walkEdgePath(paths[2]!, new Hinges(broken))).rejects.toThrow(
      /open, close.*"open".*"closed"/,
    );
  });

  it('are walked from the start state of the machine, in whatever order a parallel state is reported.', async () => {
    const both = createMachine({
      id: 'both',
      type: 'parallel',
      states: {
        left: { initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } },
        right: { initial: 'a', states: { a: {} } },
      },
    });
    const [path] = edgePaths(both).paths;
    const states = [
      { right: 'a', left: 'a' },
      { right: 'a', left: 'b' },
    ];
    const driver: EdgeDriver = { perform: () => {}, state: () => states.shift() ?? 'over' };
    await expect(walkEdgePath(path!, driver)).resolves.toBeUndefined();
    await expect(walkEdgePath(path!, driver)).rejects.toThrow(/start.*"over".*\{"left":"a","right":"a"\}/);
  });

  it('run no actor of the machine.', () => {
    let turned = 0;
    const watched = door.provide({
      actors: {
        turnKey: fromPromise(async () => {
          turned += 1;
          return 'turned';
        }),
      },
    });
    edgePaths(watched, { events });
    expect(turned).toBe(0);
    const actor = createActor(watched).start();
    actor.send({ type: 'lock' });
    expect(turned).toBe(1);
    actor.stop();
  });
});
