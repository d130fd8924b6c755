import { and, assign, createMachine, fromPromise, not, or, raise, stateIn } from 'xstate';

const check = fromPromise(() => Promise.resolve());

/** A machine with one of each construct that a chart can show. It never runs. */
export const elevatorMachine = createMachine({
  id: 'elevator',
  initial: 'idle',
  on: { 'power.lost': '.halted', 'light.toggled': { actions: 'toggleLight' } },
  states: {
    idle: {
      description: 'Waits for a call.',
      tags: ['resting', 'free'],
      entry: ['closeDoor', assign({})],
      exit: raise({ type: 'bell.rung' }),
      after: { doorTimeout: 'sleeping', 2000: { actions: 'dim' } },
      on: {
        'floor.called': [
          { guard: 'isHere', actions: 'openInspection' },
          { guard: { type: 'isNear', params: { floors: 1 } }, target: 'moving', reenter: true },
          {
            guard: and(['isUp', or([not('isFull'), stateIn('idle')])]),
            target: 'moving',
            description: 'Far away.',
          },
          { guard: not(and(['isUp', () => true])), target: 'halted' },
        ],
        'key.turned': {},
      },
    },
    sleeping: {
      invoke: { src: 'listen', onDone: 'idle', onError: 'halted', onSnapshot: { actions: 'note' } },
      always: { guard: 'isAwake', target: 'idle' },
    },
    moving: {
      type: 'parallel',
      invoke: [
        { id: 'motor', src: 'drive', onDone: 'idle' },
        { id: 'self-test', src: check },
      ],
      onDone: 'idle',
      states: {
        cabin: { initial: 'up', states: { up: { on: { turn: 'down' } }, down: {}, over: { type: 'final' } } },
        shaft: {
          initial: 'clear',
          states: { clear: {}, blocked: {}, last: { type: 'history', history: 'deep' } },
        },
      },
    },
    halted: {
      on: {
        'power.back': [{ guard: 'wasMoving', target: ['moving.cabin.down', 'moving.shaft.blocked'] }, 'idle'],
        'xstate.done.actor.*': { actions: 'count' },
      },
    },
  },
});
