/** Paths over every transition of a machine of a host's own. */
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, setup, type EventObject } from 'xstate';
import {
  doneEvent,
  edgePaths,
  errorEvent,
  possibleEvents,
  walkEdgePath,
  type EdgeDriver,
  type EdgePath,
} from '../../src/testing/edge-paths.js';

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

/** A door without a machine, which somebody wrote by hand, with or without a mistake. */
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

  it('tell which transitions no event leads over.', () => {
    expect(missing).toEqual(['door.locked||0']);
    expect(edgePaths(door, { events, limit: 1 }).missing).toHaveLength(5);
  });

  it('know the transitions without an event, and what is sent to a parent.', () => {
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
    const search = edgePaths(counter, { inputs: [{ from: 0 }, { from: 2 }] });
    expect(search.missing).toEqual(['counter.counting||0']);
    expect(search.paths.map(stepsOf)).toEqual([['tick'], ['tick']]);
  });

  it.each(paths.map((path) => [path.title, path] as const))(
    'are walked by whatever can do it: %s.',
    async (_, path) => {
      await expect(walkEdgePath(path, new Hinges(MOVES))).resolves.toBeUndefined();
    },
  );

  it('are not walked by what does something else, and it is said where.', async () => {
    const { 'open close': _, ...broken } = MOVES;
    await expect(walkEdgePath(paths[2]!, new Hinges(broken))).rejects.toThrow(
      'After open, close the state is "open", and should be "closed".',
    );
  });

  it('run nothing of the machine.', () => {
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
