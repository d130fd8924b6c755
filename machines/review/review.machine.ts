/**
 * Which tools of one server are accepted, and which are held back until they are accepted.
 *
 * Owns: the verdict on every list of tools, and when the accepted tools are read and stored. Does not own: tool definitions
 * (named by fingerprint, kept by the runtime), whether a held tool is hidden from the model, and where acceptances are
 * stored. Longer than 300 lines because its types are documented here.
 *
 * A1. A changed tool is never accepted automatically: only `tool.accept` with exactly the held fingerprint, and the
 *     baseline from the store, add to the accepted tools.
 * A2. The store decides the baseline: the first list is accepted only after it is stored, and only if the store knew
 *     nothing of the server. If the store cannot be read, every tool is held.
 * A3. An acceptance here counts at once. If it could not be stored, that is tried again with the next list or acceptance,
 *     but not when the store reports a change: the change may come from the attempt itself.
 * A4. Reading and storing take turns, so that an older answer of the store cannot overwrite a newer acceptance.
 */
import { assign, emit, enqueueActions, fromPromise, setup } from 'xstate';
import {
  hasPrint,
  heldOf,
  latestPrints,
  matchingPrints,
  otherPrints,
  type HeldPrint,
  type ToolPrint,
} from '../policy/review.js';
import { notProvided } from '../not-provided.js';

/** Input of the review chart. */
export interface ReviewInput {
  /** Name of the server. */
  readonly server: string;
}

/** Context of the review chart. Plain JSON. */
export interface ReviewContext extends ReviewInput {
  /** The tools that the server listed last. */
  readonly listed: readonly ToolPrint[];
  /** The accepted tools, one fingerprint each; null until they are known. */
  readonly accepted: readonly ToolPrint[] | null;
  /** Tools held back; empty before the first verdict. */
  readonly held: readonly HeldPrint[];
  /** Tools accepted here and not stored yet. */
  readonly unkept: readonly ToolPrint[];
  /** A tool was accepted since the last attempt to store. */
  readonly due: boolean;
  /** The store has changed since it was read. */
  readonly outdated: boolean;
}

/** Every event that the review chart accepts. */
export type ReviewEvent =
  /** The server has listed its tools. */
  | {
      readonly type: 'tools.listed';
      /** All of them. */
      readonly tools: readonly ToolPrint[];
    }
  /** A person accepts a tool. */
  | ({ readonly type: 'tool.accept' } & ToolPrint)
  /** Another process has changed the accepted tools in the store. */
  | { readonly type: 'store.changed' };

/** Events that the review chart emits to the runtime. */
export type ReviewEmitted =
  /** A tool is held back. Emitted once more if its definition changes again. */
  | ({ readonly type: 'held' } & HeldPrint)
  /** A tool that was held before no longer is. */
  | ({ readonly type: 'accepted' } & ToolPrint)
  /** The store failed. */
  | {
      readonly type: 'troubled';
      /** The message of the error. */
      readonly message: string;
    };

/** Input of the effect that reads the accepted tools from the store. */
export interface RecallBaselineInput extends ReviewInput {
  /** The baseline if the store has none yet. */
  readonly first: readonly ToolPrint[];
}

/** Result of the effect that reads the accepted tools from the store. */
export interface RecallBaselineOutput {
  /** Accepted tools, each with the fingerprint of its accepted definition. */
  readonly accepted: readonly ToolPrint[];
}

/** Input of the effect that stores accepted tools. */
export interface KeepAcceptedInput extends ReviewInput {
  /** Accepted tools to store. */
  readonly prints: readonly ToolPrint[];
}

/** Result of the effect that stores accepted tools. */
export interface KeepAcceptedOutput {
  /** Accepted tools that were stored. */
  readonly kept: readonly ToolPrint[];
}

/** The rejection of an effect of this chart. */
export interface ReviewTrouble {
  /** What failed, in one sentence. */
  readonly message: string;
}

/**
 * - `recalling`: the accepted tools are being read.
 * - `working`: the accepted tools are being read or stored.
 * - `judged`: every tool of the list is either accepted or held.
 */
export type ReviewTag = 'recalling' | 'working' | 'judged';

const NO_PRINTS: readonly ToolPrint[] = [];

const review = setup({
  types: {
    context: {} as ReviewContext,
    events: {} as ReviewEvent,
    input: {} as ReviewInput,
    emitted: {} as ReviewEmitted,
    tags: {} as ReviewTag,
  },
  actors: {
    recallBaseline: fromPromise<RecallBaselineOutput, RecallBaselineInput>(notProvided),
    keepAccepted: fromPromise<KeepAcceptedOutput, KeepAcceptedInput>(notProvided),
  },
  guards: {
    hasTools: (_, params: { tools: readonly ToolPrint[] }) => params.tools.length > 0,
    hasListed: ({ context }) => context.listed.length > 0,
    isKnown: ({ context }) => context.accepted !== null,
    isHeld: ({ context }, params: ToolPrint) => hasPrint(context.held, params),
    isAccepted: ({ context }, params: ToolPrint) => hasPrint(context.accepted ?? NO_PRINTS, params),
    isOutdated: ({ context }) => context.outdated,
    hasHeld: ({ context }) => context.held.length > 0,
    hasNoneHeld: ({ context }) => context.held.length === 0,
    hasUnkept: ({ context }) => context.unkept.length > 0,
    isDue: ({ context }) => context.due,
  },
  actions: {
    noteListed: assign(({ context }, params: { tools: readonly ToolPrint[] }) => ({
      listed: params.tools,
      held: matchingPrints(context.held, params.tools),
    })),
    noteOutdated: assign({ outdated: true }),
    forgetOutdated: assign({ outdated: false }),
    forgetDue: assign({ due: false }),
    recordBaseline: assign(({ context }, params: { output: RecallBaselineOutput }) => ({
      accepted: latestPrints(params.output.accepted, context.unkept),
    })),
    recordAcceptance: assign(({ context }, params: ToolPrint) => ({
      accepted: latestPrints(context.accepted ?? NO_PRINTS, [params]),
      unkept: latestPrints(context.unkept, [params]),
      due: true,
    })),
    recordKept: assign(({ context }, params: { output: KeepAcceptedOutput }) => ({
      unkept: otherPrints(context.unkept, params.output.kept),
    })),
    judge: enqueueActions(({ enqueue, context }) => {
      const held = heldOf(context.listed, context.accepted);
      const released = matchingPrints(context.held, context.accepted ?? NO_PRINTS);
      enqueue.assign({ held });
      for (const print of otherPrints(held, context.held)) enqueue.emit({ type: 'held', ...print });
      for (const { tool, fingerprint } of released) enqueue.emit({ type: 'accepted', tool, fingerprint });
    }),
    emitTroubled: emit((_, params: ReviewTrouble) => ({ type: 'troubled' as const, ...params })),
  },
});

const toolsOf = ({ event }: { event: { tools: readonly ToolPrint[] } }) => ({ tools: event.tools });
const printOf = ({ event }: { event: ToolPrint }): ToolPrint => ({
  tool: event.tool,
  fingerprint: event.fingerprint,
});
const outputOf = <T>({ event }: { event: { output: T } }) => ({ output: event.output });
const troubleOf = ({ event }: { event: { error: unknown } }): ReviewTrouble => {
  const { message } = event.error as ReviewTrouble;
  return { message };
};

const recordedBaseline = [{ type: 'recordBaseline', params: outputOf }, 'judge'] as const;
const recordedKept = { type: 'recordKept', params: outputOf } as const;
const listedAndJudged = [{ type: 'noteListed', params: toolsOf }, 'judge'] as const;

/** An acceptance counts for the fingerprint that is held, and for no other. */
const acceptance = {
  guard: { type: 'isHeld', params: printOf },
  actions: [{ type: 'recordAcceptance', params: printOf }, 'judge'],
} as const;

/** The tool was accepted before. */
const acceptedBefore = { guard: { type: 'isAccepted', params: printOf } } as const;

/** The chart of one server's tool review: it compares listed tools with the accepted ones. */
export const reviewMachine = review.createMachine({
  id: 'review',
  options: { maxIterations: 100 },
  context: ({ input }) => ({
    ...input,
    listed: [],
    accepted: null,
    held: [],
    unkept: [],
    due: false,
    outdated: false,
  }),
  initial: 'unseen',
  states: {
    unseen: {
      description: 'Has listed nothing yet.',
      on: {
        'tools.listed': {
          guard: { type: 'hasTools', params: toolsOf },
          target: 'recalling',
          actions: { type: 'noteListed', params: toolsOf },
        },
        'store.changed': {},
      },
    },
    recalling: {
      description:
        'Asks what was accepted of this server. Of one that was never seen, the first list is remembered as accepted.',
      tags: ['recalling', 'working'],
      entry: 'forgetOutdated',
      invoke: {
        id: 'recallBaseline',
        src: 'recallBaseline',
        input: ({ context }) => ({ server: context.server, first: context.accepted ?? context.listed }),
        onDone: [
          { guard: 'isOutdated', target: 'recalling', reenter: true, actions: recordedBaseline },
          { guard: 'isDue', target: 'keeping', actions: recordedBaseline },
          { target: 'judged', actions: recordedBaseline },
        ],
        onError: [
          { guard: 'isKnown', target: 'judged', actions: { type: 'emitTroubled', params: troubleOf } },
          { target: 'blind', actions: ['judge', { type: 'emitTroubled', params: troubleOf }] },
        ],
      },
      on: {
        'tools.listed': [
          { guard: 'isKnown', actions: listedAndJudged },
          { actions: { type: 'noteListed', params: toolsOf } },
        ],
        'tool.accept': [acceptance, acceptedBefore],
        'store.changed': { actions: 'noteOutdated' },
      },
    },
    judged: {
      description: 'Every tool of the list is either accepted or held.',
      tags: 'judged',
      initial: 'clear',
      on: {
        'tools.listed': [
          { guard: 'hasUnkept', target: 'keeping', actions: listedAndJudged },
          { actions: listedAndJudged },
        ],
        'tool.accept': [{ ...acceptance, target: 'keeping' }, acceptedBefore],
        'store.changed': 'recalling',
      },
      states: {
        clear: {
          description: 'Nothing is held.',
          always: { guard: 'hasHeld', target: 'holding' },
        },
        holding: {
          description: 'Waits for a person.',
          always: { guard: 'hasNoneHeld', target: 'clear' },
        },
      },
    },
    keeping: {
      description: 'What was accepted here is being kept.',
      tags: 'working',
      entry: 'forgetDue',
      invoke: {
        id: 'keepAccepted',
        src: 'keepAccepted',
        input: ({ context }) => ({ server: context.server, prints: context.unkept }),
        onDone: [
          { guard: 'isDue', target: 'keeping', reenter: true, actions: recordedKept },
          { guard: 'isOutdated', target: 'recalling', actions: recordedKept },
          { target: 'judged', actions: recordedKept },
        ],
        onError: [
          {
            guard: 'isDue',
            target: 'keeping',
            reenter: true,
            actions: { type: 'emitTroubled', params: troubleOf },
          },
          { guard: 'isOutdated', target: 'recalling', actions: { type: 'emitTroubled', params: troubleOf } },
          { target: 'judged', actions: { type: 'emitTroubled', params: troubleOf } },
        ],
      },
      on: {
        'tools.listed': { actions: listedAndJudged },
        'tool.accept': [acceptance, acceptedBefore],
        'store.changed': { actions: 'noteOutdated' },
      },
    },
    blind: {
      description: 'The acceptances are unreadable, so everything is held. The next list reads them again.',
      on: {
        'tools.listed': [
          {
            guard: { type: 'hasTools', params: toolsOf },
            target: 'recalling',
            actions: { type: 'noteListed', params: toolsOf },
          },
          { actions: listedAndJudged },
        ],
        'tool.accept': {
          guard: { type: 'isHeld', params: printOf },
          target: 'keeping',
          actions: ['noteOutdated', { type: 'recordAcceptance', params: printOf }, 'judge'],
        },
        'store.changed': { guard: 'hasListed', target: 'recalling' },
      },
    },
  },
});
