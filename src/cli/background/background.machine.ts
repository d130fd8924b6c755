/**
 * The life of the background process: it claims the address of its configuration, serves, and ends.
 *
 * B1. It ends when no command has run in it for `idleMs` after each server was tried, or when it is asked to.
 * B2. Commands that run get `graceMs` to finish; a second request to end cuts that short.
 * B3. Its servers are closed, and its address is free, before it has ended.
 */
import { assign, fromPromise, setup } from 'xstate';
import { notProvided } from '../../../machines/not-provided.js';

export interface BackgroundInput {
  /** How long it waits for the next command, milliseconds; 0 for ever. */
  readonly idleMs: number;
  /** How long commands may run on when it ends, milliseconds. */
  readonly graceMs: number;
}

type Reason = 'taken' | 'idle' | 'asked' | 'failed';

interface BackgroundContext extends BackgroundInput {
  /** Commands that run. */
  readonly running: number;
  readonly reason: Reason;
  /** The process that has the address; null if it is free. */
  readonly owner: number | null;
  readonly error: string | null;
}

type BackgroundEvent =
  | { readonly type: 'command.began' }
  | { readonly type: 'command.ended' }
  | { readonly type: 'started' }
  | { readonly type: 'stop' };

/** The process that has the address already; undefined if it was free and is claimed now. */
export type Claim = number | undefined;

export const backgroundMachine = setup({
  types: {
    input: {} as BackgroundInput,
    context: {} as BackgroundContext,
    events: {} as BackgroundEvent,
    tags: {} as 'claiming' | 'accepting',
  },
  actors: {
    claim: fromPromise<Claim>(notProvided),
    close: fromPromise<void>(notProvided),
  },
  delays: { idle: ({ context }) => context.idleMs, grace: ({ context }) => context.graceMs },
  guards: {
    endsWhenIdle: ({ context }) => context.idleMs > 0,
    isBusy: ({ context }) => context.running > 0,
    isQuiet: ({ context }) => context.running === 0,
  },
}).createMachine({
  id: 'background',
  context: ({ input }) => ({ ...input, running: 0, reason: 'asked', owner: null, error: null }),
  initial: 'claiming',
  on: {
    'command.ended': { actions: assign({ running: ({ context }) => context.running - 1 }) },
  },
  states: {
    claiming: {
      tags: 'claiming',
      invoke: {
        src: 'claim',
        onDone: [
          {
            guard: ({ event }) => event.output !== undefined,
            target: 'ended',
            actions: assign({ reason: 'taken', owner: ({ event }) => event.output ?? null }),
          },
          { target: 'serving' },
        ],
        onError: {
          target: 'ended',
          actions: assign({ reason: 'failed', error: ({ event }) => (event.error as Error).message }),
        },
      },
      on: { stop: 'closing' },
    },
    serving: {
      tags: 'accepting',
      initial: 'starting',
      on: {
        'command.began': { actions: assign({ running: ({ context }) => context.running + 1 }) },
        stop: 'draining',
      },
      states: {
        starting: { on: { started: 'idle' } },
        idle: {
          always: { guard: 'isBusy', target: 'busy' },
          after: {
            idle: {
              guard: 'endsWhenIdle',
              target: '#background.closing',
              actions: assign({ reason: 'idle' }),
            },
          },
        },
        busy: { always: { guard: 'isQuiet', target: 'idle' } },
      },
    },
    draining: {
      always: { guard: 'isQuiet', target: 'closing' },
      after: { grace: 'closing' },
      on: { stop: 'closing' },
    },
    closing: { invoke: { src: 'close', onDone: 'ended', onError: 'ended' } },
    ended: { type: 'final' },
  },
});
