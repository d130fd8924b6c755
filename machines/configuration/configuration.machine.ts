/**
 * The configuration of one troupe after its start: when its sources are read again, and what follows a reading.
 *
 * Owns: how long a change rests before it is read, the order of readings, and when an unreadable source is retried.
 * Does not own: which files are watched, what the sources say, and how a difference is applied.
 *
 * C1. One reading at a time. Reloads that the host requests run in order, one reading each.
 * C2. A reading covers every change that came before it; a change during a reading causes one more.
 * C3. A change is read once the files rest for `restMs`, and no later than `mostMs` after the first of a burst.
 * C4. Only a change or a requested reload resets the retries of an unreadable source.
 */
import { assign, emit, enqueueActions, fromCallback, fromPromise, sendTo, setup } from 'xstate';
import { restorable } from '../restore.js';
import { notProvided } from '../not-provided.js';

/** The delays of the configuration chart. */
export interface ConfigurationPolicy {
  /** How long files must rest before a change is read, milliseconds. */
  readonly restMs: number;
  /** How long after the first change files are read that keep changing, milliseconds. */
  readonly mostMs: number;
  /** Pause before each retry of sources that could not be read, milliseconds. */
  readonly retryAfterMs: readonly number[];
}

/** Input of the configuration chart. */
export interface ConfigurationInput {
  /** The delays of the chart. */
  readonly policy: ConfigurationPolicy;
  /** Whether the first reading, which belongs to the start of the troupe, could read every source. */
  readonly readable: boolean;
  /** Why the previous actor died, if this one replaces it. Changes it had not read yet are read again. */
  readonly crash?: string;
}

/** Context of the configuration chart. Plain JSON. */
export interface ConfigurationContext {
  /** The delays of the chart. */
  readonly policy: ConfigurationPolicy;
  /** Whether the last reading could read every source. */
  readonly readable: boolean;
  /** When the first unread change was noticed; null if there is none. */
  readonly changedAt: number | null;
  /** When the latest unread change was noticed; null if there is none. */
  readonly seenAt: number | null;
  /** Reloads that the host has requested and that have not begun. */
  readonly asked: number;
  /** Whether the current reading, or the last one, was requested by the host. */
  readonly serving: boolean;
  /** Retries since the last change. */
  readonly retries: number;
}

/** Every event that the configuration chart accepts. */
export type ConfigurationEvent =
  /** A watched file may have changed. */
  | {
      readonly type: 'files.changed';
      /** When it was noticed, milliseconds since the epoch. */
      readonly at: number;
    }
  /** The host has requested a reload. */
  | { readonly type: 'reload.asked' }
  /** The files cannot be watched. */
  | {
      readonly type: 'watch.failed';
      /** The message of the error. */
      readonly message: string;
    }
  /** The troupe closes. */
  | { readonly type: 'configuration.close' };

/** Events that the configuration chart emits to the runtime. */
export type ConfigurationEmitted =
  /** Files cannot be watched: a change to them is read at the next reload. */
  | {
      readonly type: 'unwatched';
      /** Why they cannot be watched. */
      readonly message: string;
    }
  /** A reading failed that the host had not requested. For a requested one, the host's promise rejects instead. */
  | {
      readonly type: 'unapplied';
      /** The message of the error. */
      readonly message: string;
    };

/** Sent to `watchFiles`: the sources were read, so other files may have to be watched. */
export interface FilesReread {
  /** Always `files.reread`. */
  readonly type: 'files.reread';
}

/** Input of the effect `applyConfiguration`. */
export interface ApplyConfigurationInput {
  /** Whether the host waits for this reading. */
  readonly serving: boolean;
}

/** Result of the effect `applyConfiguration`. */
export interface ApplyConfigurationOutput {
  /** True if every source could be read. */
  readonly readable: boolean;
  /** When the reading was complete, milliseconds since the epoch. */
  readonly at: number;
}

/** The rejection of `applyConfiguration`. */
export interface ApplyConfigurationFailure {
  /** Text of the error. */
  readonly message: string;
  /** When the reading failed, milliseconds since the epoch. */
  readonly at: number;
}

const configuration = setup({
  types: {
    context: {} as ConfigurationContext,
    events: {} as ConfigurationEvent,
    input: {} as ConfigurationInput,
    emitted: {} as ConfigurationEmitted,
  },
  actors: {
    watchFiles: fromCallback<FilesReread>(() => {}),
    applyConfiguration: fromPromise<ApplyConfigurationOutput, ApplyConfigurationInput>(notProvided),
  },
  guards: {
    isReadable: ({ context }) => context.readable,
    canRead: (_, params: ApplyConfigurationOutput) => params.readable,
    hasAsked: ({ context }) => context.asked > 0,
    hasChanged: ({ context }) => context.changedAt !== null,
    isOutOfRetries: ({ context }) => context.retries >= context.policy.retryAfterMs.length,
  },
  delays: {
    rest: ({ context: { policy, changedAt, seenAt } }) => {
      const left = (changedAt ?? 0) + policy.mostMs - (seenAt ?? 0);
      return Math.max(0, Math.min(policy.restMs, left));
    },
    retry: ({ context }) => context.policy.retryAfterMs[context.retries] ?? 0,
  },
  actions: {
    noteChange: assign(({ context }, params: { at: number }) => ({
      changedAt: context.changedAt ?? params.at,
      seenAt: params.at,
    })),
    noteAsked: assign({ asked: ({ context }) => context.asked + 1 }),
    beginReading: assign(({ context }) => ({
      changedAt: null,
      seenAt: null,
      serving: context.asked > 0,
      asked: Math.max(0, context.asked - 1),
    })),
    recordReading: assign(({ context }, params: { readable: boolean; at: number }) => ({
      readable: params.readable,
      seenAt: context.changedAt === null ? null : params.at,
    })),
    countRetry: assign({ retries: ({ context }) => context.retries + 1 }),
    forgetRetries: assign({ retries: 0 }),
    watchAnew: sendTo('watchFiles', { type: 'files.reread' } satisfies FilesReread),
    emitUnwatched: emit((_, params: { message: string }) => ({ type: 'unwatched' as const, ...params })),
    emitUnapplied: enqueueActions(({ context, enqueue }, { message }: { message: string }) => {
      if (!context.serving) enqueue.emit({ type: 'unapplied', message });
    }),
  },
});

const readingOf = ({ event }: { event: { output: ApplyConfigurationOutput } }): ApplyConfigurationOutput =>
  event.output;
const failedAt = ({ event }: { event: { error: unknown } }): ApplyConfigurationOutput => {
  const { at } = event.error as ApplyConfigurationFailure;
  return { readable: false, at };
};
const messageOf = ({ event }: { event: { error: unknown } }): { message: string } => {
  const { message } = event.error as ApplyConfigurationFailure;
  return { message };
};

const read = [{ type: 'recordReading', params: readingOf }, 'watchAnew'] as const;
const unapplied = [
  { type: 'recordReading', params: failedAt },
  { type: 'emitUnapplied', params: messageOf },
  'watchAnew',
] as const;

const noted = {
  type: 'noteChange',
  params: ({ event }: { event: { at: number } }) => ({ at: event.at }),
} as const;

/** While nothing is being read: a change must rest first, a requested reload starts at once. */
const wakes = {
  'files.changed': { target: '#configuration.changed', actions: ['forgetRetries', noted] },
  'reload.asked': { target: '#configuration.applying', actions: ['forgetRetries', 'noteAsked'] },
} as const;

/** The chart that decides when changed configuration files are read again. */
export const configurationMachine = restorable(
  configuration.createMachine({
    id: 'configuration',
    options: { maxIterations: 100 },
    context: ({ input }) => ({
      policy: input.policy,
      readable: input.readable && input.crash === undefined,
      changedAt: null,
      seenAt: null,
      asked: 0,
      serving: false,
      retries: 0,
    }),
    invoke: { id: 'watchFiles', src: 'watchFiles' },
    on: {
      'watch.failed': {
        actions: { type: 'emitUnwatched', params: ({ event }) => ({ message: event.message }) },
      },
      'configuration.close': '.closed',
    },
    initial: 'begun',
    states: {
      begun: {
        description: 'The sources were read at the start, or by an actor that died.',
        always: [{ guard: 'isReadable', target: 'quiet' }, { target: 'unreadable' }],
      },
      quiet: {
        description: 'Everything that was read has been applied.',
        on: wakes,
      },
      changed: {
        description: 'Files have changed and are read once they rest.',
        after: { rest: 'applying' },
        on: {
          'files.changed': { target: 'changed', reenter: true, actions: noted },
          'reload.asked': { target: 'applying', actions: 'noteAsked' },
        },
      },
      applying: {
        description: 'The sources are read, and what differs is applied.',
        entry: 'beginReading',
        invoke: {
          id: 'applyConfiguration',
          src: 'applyConfiguration',
          input: ({ context }) => ({ serving: context.serving }),
          onDone: [
            { guard: 'hasAsked', target: 'applying', reenter: true, actions: read },
            { guard: 'hasChanged', target: 'changed', actions: read },
            { guard: { type: 'canRead', params: readingOf }, target: 'quiet', actions: read },
            { target: 'unreadable', actions: read },
          ],
          onError: [
            { guard: 'hasAsked', target: 'applying', reenter: true, actions: unapplied },
            { guard: 'hasChanged', target: 'changed', actions: unapplied },
            { target: 'failed', actions: unapplied },
          ],
        },
        on: {
          'files.changed': { actions: ['forgetRetries', noted] },
          'reload.asked': { actions: ['forgetRetries', 'noteAsked'] },
        },
      },
      unreadable: {
        description: 'A source could not be read; the others are applied.',
        initial: 'retrying',
        on: wakes,
        states: {
          retrying: {
            description: 'Retries shortly: a file may be half written.',
            always: { guard: 'isOutOfRetries', target: 'waiting' },
            after: { retry: { target: '#configuration.applying', actions: 'countRetry' } },
          },
          waiting: {
            description: 'Waits for the next change.',
          },
        },
      },
      failed: {
        description: 'The last reading could not be applied. The next change or reload tries again.',
        on: wakes,
      },
      closed: {
        description: 'Nothing is watched or read any more.',
        type: 'final',
      },
    },
  }),
);
