/**
 * What was approved of one server's tools, and which of them are held back until somebody approves them.
 *
 * Owns: the verdict on every list of tools, and when what was approved is read and kept. Does not own: tool definitions
 * (named by fingerprint, kept by the runtime), whether a held tool is kept from anybody, and where approvals are kept.
 *
 * A1. Nothing that changed becomes approved by itself: only `tool.approve` with the very fingerprint that is held, and
 *     the baseline that the store gives, add to what is approved.
 * A2. The baseline is the store's word: the first list counts only once it is remembered, and only where the store knew
 *     nothing of the server. Where the store cannot be asked, every tool is held.
 * A3. What was approved here counts at once. Where it could not be kept, that is tried again with the next list or
 *     approval, and not because the store says something: it may be speaking of the attempt.
 * A4. Reading and keeping take turns, so that no older word of the store overwrites a newer approval.
 */
import { assign, emit, enqueueActions, fromPromise, setup } from 'xstate';
import {
  hasPrint,
  heldOf,
  latestPrints,
  printsAmong,
  printsBeside,
  type HeldPrint,
  type ToolPrint,
} from './policy/review.js';

export interface ReviewInput {
  /** Name of the server. */
  readonly server: string;
}

export interface ReviewContext extends ReviewInput {
  /** What the server listed last. */
  readonly listed: readonly ToolPrint[];
  /** What was approved, one fingerprint for each tool; null before anybody can tell. */
  readonly approved: readonly ToolPrint[] | null;
  /** Judged so; before the first verdict nothing is. */
  readonly held: readonly HeldPrint[];
  /** Approved here, and not kept yet. */
  readonly unkept: readonly ToolPrint[];
  /** Something was approved since it was last tried to keep what is unkept. */
  readonly due: boolean;
  /** The store has something newer than what was read. */
  readonly outdated: boolean;
}

export type ReviewEvent =
  | { readonly type: 'tools.listed'; readonly tools: readonly ToolPrint[] }
  | ({ readonly type: 'tool.approve' } & ToolPrint)
  | { readonly type: 'store.changed' };

export type ReviewEmitted =
  | ({ readonly type: 'held' } & HeldPrint)
  /** Held before, and not any more. */
  | ({ readonly type: 'approved' } & ToolPrint)
  | { readonly type: 'troubled'; readonly message: string };

export interface RecallBaselineInput extends ReviewInput {
  /** What becomes the baseline where the store knows none. */
  readonly first: readonly ToolPrint[];
}

export interface RecallBaselineOutput {
  readonly approved: readonly ToolPrint[];
}

export interface KeepApprovalsInput extends ReviewInput {
  readonly prints: readonly ToolPrint[];
}

export interface KeepApprovalsOutput {
  readonly kept: readonly ToolPrint[];
}

/** What an effect of this chart rejects with. */
export interface ReviewTrouble {
  readonly message: string;
}

const NO_PRINTS: readonly ToolPrint[] = [];

function notProvided(): Promise<never> {
  return Promise.reject(new Error('this actor slot has no provider'));
}

const review = setup({
  types: {
    context: {} as ReviewContext,
    events: {} as ReviewEvent,
    input: {} as ReviewInput,
    emitted: {} as ReviewEmitted,
  },
  actors: {
    recallBaseline: fromPromise<RecallBaselineOutput, RecallBaselineInput>(notProvided),
    keepApprovals: fromPromise<KeepApprovalsOutput, KeepApprovalsInput>(notProvided),
  },
  guards: {
    hasTools: (_, params: { tools: readonly ToolPrint[] }) => params.tools.length > 0,
    hasListed: ({ context }) => context.listed.length > 0,
    isKnown: ({ context }) => context.approved !== null,
    isHeld: ({ context }, params: ToolPrint) => hasPrint(context.held, params),
    isApproved: ({ context }, params: ToolPrint) => hasPrint(context.approved ?? NO_PRINTS, params),
    isOutdated: ({ context }) => context.outdated,
    hasHeld: ({ context }) => context.held.length > 0,
    hasNoneHeld: ({ context }) => context.held.length === 0,
    hasUnkept: ({ context }) => context.unkept.length > 0,
    isDue: ({ context }) => context.due,
  },
  actions: {
    noteListed: assign(({ context }, params: { tools: readonly ToolPrint[] }) => ({
      listed: params.tools,
      held: printsAmong(context.held, params.tools),
    })),
    noteOutdated: assign({ outdated: true }),
    forgetOutdated: assign({ outdated: false }),
    forgetDue: assign({ due: false }),
    recordBaseline: assign(({ context }, params: { output: RecallBaselineOutput }) => ({
      approved: latestPrints(params.output.approved, context.unkept),
    })),
    recordApproval: assign(({ context }, params: ToolPrint) => ({
      approved: latestPrints(context.approved ?? NO_PRINTS, [params]),
      unkept: latestPrints(context.unkept, [params]),
      due: true,
    })),
    recordKept: assign(({ context }, params: { output: KeepApprovalsOutput }) => ({
      unkept: printsBeside(context.unkept, params.output.kept),
    })),
    judge: enqueueActions(({ enqueue, context }) => {
      const held = heldOf(context.listed, context.approved);
      const released = printsAmong(context.held, context.approved ?? NO_PRINTS);
      enqueue.assign({ held });
      for (const print of printsBeside(held, context.held)) enqueue.emit({ type: 'held', ...print });
      for (const { tool, fingerprint } of released) enqueue.emit({ type: 'approved', tool, fingerprint });
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

/** An approval counts for the fingerprint that is held, and for no other. */
const approval = {
  guard: { type: 'isHeld', params: printOf },
  actions: [{ type: 'recordApproval', params: printOf }, 'judge'],
} as const;

/** It was approved before. */
const approvedBefore = { guard: { type: 'isApproved', params: printOf } } as const;

export const reviewMachine = review.createMachine({
  id: 'review',
  options: { maxIterations: 100 },
  context: ({ input }) => ({
    ...input,
    listed: [],
    approved: null,
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
        'Asks what was approved of this server. Of one that was never seen, the first list is remembered as approved.',
      entry: 'forgetOutdated',
      invoke: {
        id: 'recallBaseline',
        src: 'recallBaseline',
        input: ({ context }) => ({ server: context.server, first: context.approved ?? context.listed }),
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
        'tool.approve': [approval, approvedBefore],
        'store.changed': { actions: 'noteOutdated' },
      },
    },
    judged: {
      description: 'Every tool of the list is either approved or held.',
      initial: 'clear',
      on: {
        'tools.listed': [
          { guard: 'hasUnkept', target: 'keeping', actions: listedAndJudged },
          { actions: listedAndJudged },
        ],
        'tool.approve': [{ ...approval, target: 'keeping' }, approvedBefore],
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
      description: 'What was approved here is being kept.',
      entry: 'forgetDue',
      invoke: {
        id: 'keepApprovals',
        src: 'keepApprovals',
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
        'tool.approve': [approval, approvedBefore],
        'store.changed': { actions: 'noteOutdated' },
      },
    },
    blind: {
      description: 'Nobody can tell what was approved: everything is held, and the next list asks again.',
      on: {
        'tools.listed': [
          {
            guard: { type: 'hasTools', params: toolsOf },
            target: 'recalling',
            actions: { type: 'noteListed', params: toolsOf },
          },
          { actions: listedAndJudged },
        ],
        'tool.approve': {
          guard: { type: 'isHeld', params: printOf },
          target: 'keeping',
          actions: ['noteOutdated', { type: 'recordApproval', params: printOf }, 'judge'],
        },
        'store.changed': { guard: 'hasListed', target: 'recalling' },
      },
    },
  },
});
