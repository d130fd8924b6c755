/**
 * The real review chart; a test controls both of its effects.
 *
 * 1. Nothing settles by itself. 2. When a method resolves, everything that follows from it has happened.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor, fromPromise, type ActorRefFrom, type InspectionEvent } from 'xstate';
import type { ToolPrint } from '../../../machines/policy/review.js';
import {
  reviewMachine,
  type KeepAcceptedInput,
  type KeepAcceptedOutput,
  type RecallBaselineInput,
  type RecallBaselineOutput,
  type ReviewContext,
  type ReviewEmitted,
  type ReviewEvent,
} from '../../../machines/review/review.machine.js';
import { verdict, type TransitionVerdict } from '../../../machines/verdict.js';

export function print(text: string): ToolPrint {
  const [tool = '', fingerprint = ''] = text.split(':');
  return { tool, fingerprint };
}

/** `read:1 write:2` is the tool `read` with the fingerprint `1`, and so on. */
export function prints(text: string): readonly ToolPrint[] {
  return text.split(' ').filter(Boolean).map(print);
}

const words = (list: readonly ToolPrint[]): string =>
  list.map(({ tool, fingerprint }) => `${tool}:${fingerprint}`).join(' ');

interface Running {
  readonly input: RecallBaselineInput | KeepAcceptedInput;
  readonly succeed: (output: RecallBaselineOutput | KeepAcceptedOutput) => void;
  readonly fail: (trouble: unknown) => void;
}

export class ReviewDriver {
  readonly emitted: ReviewEmitted[] = [];
  readonly #actor: ActorRefFrom<typeof reviewMachine>;
  #running: Running | undefined;

  constructor(inspect?: (event: InspectionEvent) => void) {
    this.#actor = createActor(
      reviewMachine.provide({
        actors: {
          recallBaseline: this.#hold<RecallBaselineOutput, RecallBaselineInput>(),
          keepAccepted: this.#hold<KeepAcceptedOutput, KeepAcceptedInput>(),
        },
      }),
      { input: { server: 'fs' }, ...(inspect && { inspect }) },
    );
    this.#actor.on('*', (event) => this.emitted.push(event));
    this.#actor.start();
  }

  get snapshot() {
    return this.#actor.getSnapshot();
  }

  get context(): ReviewContext {
    return this.snapshot.context;
  }

  get path(): string {
    const { value } = this.snapshot;
    return typeof value === 'string' ? value : `judged.${value.judged}`;
  }

  /** The held tools, as text. */
  get held(): string {
    return words(this.context.held);
  }

  /** The emitted events since the last call, as text. */
  get newEvents(): string[] {
    return this.emitted
      .splice(0)
      .map((event) =>
        event.type === 'troubled'
          ? `troubled: ${event.message}`
          : `${event.type} ${words([event])}${event.type === 'held' ? ` (${event.reason})` : ''}`,
      );
  }

  /** The input of the running effect, as text; undefined if none runs. */
  get asked(): string | undefined {
    const input = this.#running?.input;
    if (input === undefined) return undefined;
    return 'first' in input ? `recall ${words(input.first)}` : `keep ${words(input.prints)}`;
  }

  async send(event: ReviewEvent): Promise<TransitionVerdict> {
    const answer = verdict(this.snapshot, event);
    this.#actor.send(event);
    await turn();
    return answer;
  }

  list(text: string): Promise<TransitionVerdict> {
    return this.send({ type: 'tools.listed', tools: prints(text) });
  }

  accept(text: string): Promise<TransitionVerdict> {
    return this.send({ type: 'tool.accept', ...print(text) });
  }

  changeStore(): Promise<TransitionVerdict> {
    return this.send({ type: 'store.changed' });
  }

  /** The store has these tools; by default, it accepts the first list unchanged. */
  async recall(text?: string): Promise<void> {
    const { input, succeed } = this.#take();
    if (!('first' in input)) throw new Error('Nothing is recalled.');
    succeed({ accepted: text === undefined ? input.first : prints(text) });
    await turn();
  }

  async keep(): Promise<void> {
    const { input, succeed } = this.#take();
    if (!('prints' in input)) throw new Error('Nothing is kept.');
    succeed({ kept: input.prints });
    await turn();
  }

  async fail(message = 'no disk'): Promise<void> {
    this.#take().fail({ message });
    await turn();
  }

  #take(): Running {
    const running = this.#running;
    if (running === undefined) throw new Error('Nothing runs.');
    this.#running = undefined;
    return running;
  }

  #hold<TOutput extends RecallBaselineOutput | KeepAcceptedOutput, TInput extends Running['input']>() {
    return fromPromise<TOutput, TInput>(
      ({ input, signal }) =>
        new Promise((resolve, reject) => {
          const running: Running = {
            input,
            succeed: (output) => resolve(output as TOutput),
            fail: reject,
          };
          this.#running = running;
          const over = (): void => {
            if (this.#running === running) this.#running = undefined;
          };
          signal.addEventListener('abort', over, { once: true });
        }),
    );
  }
}
