/**
 * A troupe as the logic of an XState actor. The troupe has its own actor system and clock; the actor of the host owns the
 * troupe and shows it.
 *
 * X1. The troupe is made when the actor starts, never before: the initial snapshot is pure.
 * X2. However the actor ends, its troupe is closed.
 * X3. The snapshot is plain data. The troupe itself is found by `troupeOf`.
 */
import type { ActorLogic, ActorScope, AnyActorRef, EventObject, NonReducibleUnknown, Snapshot } from 'xstate';
import { NotReadyError } from '../errors.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { TroupeOptions } from '../options.js';
import type { StartReport } from '../runtime/start-report.js';
import { createTroupe, type Troupe } from '../runtime/troupe.js';
import { toError } from '../text/error-message.js';
import { carryOut, type CommandFailed, type TroupeCommand } from './troupe-command.js';

/**
 * How an actor gets its troupe: the options of `createTroupe`, or a function that makes a new troupe from the input of the
 * actor. The actor starts the troupe and closes it.
 *
 * @typeParam TInput Input of the actor.
 */
export type TroupeSource<TInput = NonReducibleUnknown> =
  | TroupeOptions
  | ((args: {
      /** Input of the actor. */
      readonly input: TInput;
    }) => Troupe);

/**
 * What an actor of a troupe shows.
 *
 * @typeParam TContext What it shows of the troupe.
 * @typeParam TOutput Output of the actor, after the troupe was closed by others.
 * @typeParam TInput Input of the actor.
 */
export type TroupeActorSnapshot<TContext, TOutput, TInput = NonReducibleUnknown> = Snapshot<TOutput> & {
  /** What is known of the troupe now. Plain data. */
  readonly context: TContext;
  /** The input of the actor; a restored actor starts with it again. */
  readonly input: TInput;
};

/** Emitted by an actor of a troupe. */
export type TroupeEmitted = LifecycleEvent | CommandFailed;

/**
 * Logic of an actor of a troupe.
 *
 * @typeParam TContext What it shows of the troupe.
 * @typeParam TOutput Output of the actor, after the troupe was closed by others.
 * @typeParam TCommand Events that it takes.
 * @typeParam TInput Input of the actor.
 */
export type TroupeLogic<
  TContext,
  TOutput,
  TCommand extends EventObject,
  TInput = NonReducibleUnknown,
> = ActorLogic<
  TroupeActorSnapshot<TContext, TOutput, TInput>,
  TCommand,
  TInput,
  AnyActorRef['system'],
  TroupeEmitted
>;

/** What an actor shows of its troupe, and what it lets through. */
export interface Facet<TContext, TOutput, TCommand extends EventObject> {
  /** Before the troupe exists. */
  readonly empty: TContext;
  /** The present context; the same object as before if nothing has changed. */
  read(troupe: Troupe, before: TContext): TContext;
  /** The troupe has started. An error becomes the error of the actor. */
  started(troupe: Troupe, report: StartReport): Partial<TContext>;
  output(last: TContext): TOutput;
  shows(event: LifecycleEvent): boolean;
  command(sent: TCommand): TroupeCommand;
}

/** What an actor tells itself. */
type Notice<TContext> =
  | { readonly type: 'xstate.troupe.changed' }
  | { readonly type: 'xstate.troupe.started'; readonly known: Partial<TContext> }
  | { readonly type: 'xstate.troupe.failed'; readonly error: unknown }
  | { readonly type: 'xstate.troupe.closed' };

const STOP = { type: 'xstate.stop' } as const;

const troupes = new WeakMap<AnyActorRef, Troupe>();

/**
 * The troupe of an actor, for instance to call its tools, or to wait for its end: XState stops actors at once, and the troupe
 * is being closed then.
 *
 * @param actor An actor of `fromTroupe` or `fromConnection`.
 *
 * @returns Undefined for any other actor, and before it is started.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { fromTroupe, troupeOf } from 'mcp-troupe/xstate';
 *
 * const actor = createActor(fromTroupe({ config: '.mcp.json' })).start();
 * await troupeOf(actor)?.callTool('mcp__fs__read_file', { path: 'README.md' });
 * actor.stop();
 * await troupeOf(actor)?.close();
 * ```
 */
export function troupeOf(actor: AnyActorRef | undefined): Troupe | undefined {
  return actor && troupes.get(actor);
}

export function troupeLogic<TContext, TOutput, TCommand extends EventObject, TInput>(
  source: TroupeSource<TInput>,
  facet: Facet<TContext, TOutput, TCommand>,
): TroupeLogic<TContext, TOutput, TCommand, TInput> {
  type Shown = TroupeActorSnapshot<TContext, TOutput, TInput>;
  type Scope = ActorScope<Shown, TCommand, AnyActorRef['system'], TroupeEmitted>;

  function begin({ input }: Shown, { self, emit }: Scope): void {
    const troupe = typeof source === 'function' ? source({ input }) : createTroupe(source);
    troupes.set(self, troupe);
    const tell = (notice: Notice<TContext>): void => {
      if (self.getSnapshot().status === 'active') self.send(notice as unknown as TCommand);
    };
    const changed = (): void => {
      const { context } = self.getSnapshot();
      if (facet.read(troupe, context) !== context) tell({ type: 'xstate.troupe.changed' });
    };
    const fail = (error: unknown): void => tell({ type: 'xstate.troupe.failed', error });
    const started = troupe.start().then((report) => {
      tell({ type: 'xstate.troupe.started', known: facet.started(troupe, report) });
    });
    started.catch(fail);
    troupe.onChange('status', changed);
    troupe.onChange('tools', changed);
    troupe.events$.subscribe({
      next: (event) => {
        if (facet.shows(event)) emit(event);
        if (event.type === 'manager.failed') fail(new NotReadyError(event.message));
      },
      complete: () => void started.then(() => tell({ type: 'xstate.troupe.closed' }), fail),
    });
  }

  function end(snapshot: Shown, { self }: Scope, ending: Partial<Snapshot<TOutput>>): Shown {
    void troupes.get(self)?.close();
    return { ...snapshot, ...ending } as Shown;
  }

  return {
    getInitialSnapshot: (_scope, input) => ({
      status: 'active',
      output: undefined,
      error: undefined,
      context: facet.empty,
      input,
    }),

    start: begin,

    transition(snapshot, event, scope) {
      const troupe = troupes.get(scope.self);
      if (troupe === undefined) return snapshot;
      const received = event as unknown as Notice<TContext> | typeof STOP;
      switch (received.type) {
        case STOP.type:
          return end(snapshot, scope, { status: 'stopped' });
        case 'xstate.troupe.changed':
          return { ...snapshot, context: facet.read(troupe, snapshot.context) };
        case 'xstate.troupe.started':
          return { ...snapshot, context: { ...snapshot.context, ...received.known } };
        case 'xstate.troupe.failed':
          return end(snapshot, scope, { status: 'error', error: received.error });
        case 'xstate.troupe.closed':
          return end(snapshot, scope, { status: 'done', output: facet.output(snapshot.context) });
        default:
          carryOut(troupe, facet.command(event)).catch((error: unknown) =>
            scope.emit({ type: 'command.failed', command: event, error: toError(error) }),
          );
          return snapshot;
      }
    },

    getPersistedSnapshot: (snapshot) => ({ ...snapshot, context: undefined }),

    restoreSnapshot: (persisted) => ({ ...(persisted as Shown), context: facet.empty }),
  };
}
