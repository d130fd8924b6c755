/** The real review of the tools of one server; the path controls both effects. Checks the invariants of the review. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'vitest';
import {
  createActor,
  fromPromise,
  type ActorRefFrom,
  type AnyMachineSnapshot,
  type EventObject,
  type StateValue,
} from 'xstate';
import type { ToolPrint } from '../../../machines/policy/review.js';
import {
  reviewMachine,
  type ReviewContext,
  type ReviewEvent,
} from '../../../machines/review/review.machine.js';
import { verdict } from '../../../machines/verdict.js';
import { doneEvent, errorEvent, type EdgeDriver, type EdgeOptions } from '../../../src/testing/edge-paths.js';
import type { ChartEdges } from '../../support/chart-edges.js';

const OLD: ToolPrint = { tool: 'read', fingerprint: '1' };
const NEW: ToolPrint = { tool: 'read', fingerprint: '2' };
const OTHER: ToolPrint = { tool: 'write', fingerprint: '1' };

const EXTERNAL_EVENTS: readonly ReviewEvent[] = [
  { type: 'tools.listed', tools: [] },
  { type: 'tools.listed', tools: [OLD] },
  { type: 'tools.listed', tools: [NEW, OTHER] },
  { type: 'tool.accept', ...OLD },
  { type: 'tool.accept', ...NEW },
  { type: 'tool.accept', ...OTHER },
  { type: 'store.changed' },
];

/** Every event of the review of a server whose tools change. */
export const REVIEW_MODEL: EdgeOptions = {
  inputs: [{ server: 'files' }],
  events: (snapshot) => [...EXTERNAL_EVENTS, ...endsOf(snapshot)],
  key: (snapshot) => JSON.stringify([snapshot.value, snapshot.context]),
};

function endsOf(snapshot: AnyMachineSnapshot): EventObject[] {
  const { accepted, listed, unkept } = snapshot.context as ReviewContext;
  if (snapshot.matches('recalling')) {
    const known = accepted ?? listed;
    return [known, [OLD]]
      .map((prints) => doneEvent('recallBaseline', { accepted: prints }))
      .concat(troubled('recallBaseline'));
  }
  if (!snapshot.matches('keeping')) return [];
  return [unkept, unkept.slice(1)]
    .map((kept) => doneEvent('keepAccepted', { kept }))
    .concat(troubled('keepAccepted'));
}

function troubled(actorId: string): EventObject {
  return errorEvent(actorId, { message: 'no disk' });
}

interface Held {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class HeldReview implements EdgeDriver {
  readonly #running = new Map<string, Held>();
  readonly #actor: ActorRefFrom<typeof reviewMachine>;

  constructor(input: unknown, edges: ChartEdges) {
    const hold = (id: string) =>
      fromPromise<never, never>(
        ({ signal }) =>
          new Promise((resolve, reject) => {
            const held: Held = { resolve: resolve as Held['resolve'], reject };
            this.#running.set(id, held);
            const over = (): void => {
              if (this.#running.get(id) === held) this.#running.delete(id);
            };
            signal.addEventListener('abort', over, { once: true });
          }),
      );
    const actors = { recallBaseline: hold('recallBaseline'), keepAccepted: hold('keepAccepted') };
    this.#actor = createActor(reviewMachine.provide({ actors } as never), {
      input: input as { server: string },
      inspect: edges.count,
    });
    this.#actor.start();
  }

  state(): StateValue {
    return this.#actor.getSnapshot().value;
  }

  async perform(event: EventObject): Promise<void> {
    const before = this.#actor.getSnapshot();
    const {
      type,
      actorId = '',
      output,
      error,
    } = event as EventObject & Partial<Record<'actorId', string>> & { output?: unknown; error?: unknown };
    const held = this.#running.get(actorId);
    this.#running.delete(actorId);
    if (type.startsWith('xstate.done.')) held!.resolve(output);
    else if (type.startsWith('xstate.error.')) held!.reject(error);
    else {
      const isObeyed = verdict(before, event) === 'accepted';
      this.#actor.send(event as ReviewEvent);
      if (!isObeyed) expect(this.#actor.getSnapshot()).toBe(before);
    }
    await turn();
    this.#expectInvariants(before.context, event as ReviewEvent);
  }

  #expectInvariants(before: ReviewContext, event: ReviewEvent): void {
    const { value, context } = this.#actor.getSnapshot();
    const runs = value === 'recalling' ? ['recallBaseline'] : value === 'keeping' ? ['keepAccepted'] : [];
    expect([...this.#running.keys()]).toEqual(runs);
    const isExternal = event.type === 'tools.listed' || event.type === 'store.changed';
    if (isExternal) expect(context.accepted).toEqual(before.accepted);
    if (context.accepted === null) return;
    const accepted = context.accepted.map(wordOf);
    const wanted = context.listed.map(wordOf).filter((print) => !accepted.includes(print));
    expect(context.held.map(wordOf)).toEqual(wanted);
  }
}

function wordOf({ tool, fingerprint }: ToolPrint): string {
  return `${tool}:${fingerprint}`;
}
