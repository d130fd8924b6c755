/**
 * The recordings of one troupe: the one its options ask for, and those that a host begins and ends while it runs. What
 * records is loaded when it is first needed.
 */
import type { ManagerInput } from '../machines/manager.machine.js';
import { ConfigError } from './errors.js';
import { recordProblem, toRecordOptions, type RecordTarget } from './event-log/record-options.js';
import type { Recording } from './event-log/recording.js';
import type { Recorder } from './event-log/recorder.js';
import type { ObservableSystem } from './event-log/observed-system.js';
import type { LifecycleEventType } from './lifecycle/event.js';
import type { Publisher } from './lifecycle/publish.js';
import type { Wire } from './event-log/wire.js';
import type { Clock } from './ports.js';
import { doneWithin } from './release.js';

/** What no chart is told, and whoever reads a log wants to know. */
const NOTED: ReadonlySet<LifecycleEventType> = new Set([
  'connection.rejected',
  'call.started',
  'call.finished',
]);

/** Longest time that a sink may take for what is left when its recording ends. */
const CLOSE_LIMIT_MS = 2_000;

export interface RecordingsParts {
  readonly system: () => ObservableSystem;
  readonly publisher: Pick<Publisher, 'publish' | 'events$'>;
  readonly wire: Pick<Wire, 'listen'>;
  readonly clock: Clock;
  readonly seed: number;
  /** What the manager was started with. */
  readonly manager: ManagerInput;
}

export class Recordings {
  readonly #running = new Set<Recording>();
  #isClosed = false;

  /** `target` is what the options ask for. */
  constructor(
    private readonly target: RecordTarget | undefined,
    private readonly parts: RecordingsParts,
  ) {}

  /** Begins the one that the options ask for. */
  async open(): Promise<void> {
    if (this.target !== undefined) await this.begin(this.target);
  }

  /**
   * Begins a recording. Rejects with a `ConfigError` for a target that is none; for one that cannot be written it does
   * not: that is a `diagnostic`, and ends it.
   */
  async begin(asked: RecordTarget): Promise<Recording> {
    const problem = recordProblem(asked);
    if (problem !== undefined) throw new ConfigError(`record: ${problem}`);
    const { target, wire = false, bodies = false, maxBytes } = toRecordOptions(asked);
    const { makeRecorder, createLogFile } = await import('./event-log/make-recorder.js');
    if (this.#isClosed) return { close: async () => {} };
    const { publisher, clock, system, seed, manager } = this.parts;
    const where = typeof target === 'string' ? `'${target}'` : 'the sink of the host';
    const recorder: Recorder = makeRecorder({
      system: system(),
      sink:
        typeof target === 'string'
          ? createLogFile(target, maxBytes === undefined ? {} : { maxBytes })
          : target,
      clock,
      seed,
      input: manager,
      failed: (error) => {
        const why = error instanceof Error ? error.message : 'it failed without an error';
        const message = `The recording to ${where} has ended: ${why}`;
        publisher.publish({ type: 'diagnostic', kind: 'record-failed', message });
        void recording.close();
      },
    });
    let closed: Promise<void> | undefined;
    const following = publisher.events$.subscribe((event) => {
      if (NOTED.has(event.type)) recorder.note({ ...event });
    });
    // A message may be sent while the machines are at work.
    const silence =
      wire || bodies
        ? this.parts.wire.listen({ bodies, note: (note) => queueMicrotask(() => recorder.note(note)) })
        : (): void => {};
    const end = async (): Promise<void> => {
      this.#running.delete(recording);
      following.unsubscribe();
      silence();
      const isDone = await doneWithin(clock, CLOSE_LIMIT_MS, recorder.close());
      if (isDone) return;
      const message = `The recording to ${where} was not written to its end within ${CLOSE_LIMIT_MS / 1_000} s.`;
      publisher.publish({ type: 'diagnostic', kind: 'record-failed', message });
    };
    const recording: Recording = { close: () => (closed ??= end()) };
    this.#running.add(recording);
    recorder.start();
    return recording;
  }

  /** Ends all of them; none begins any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((recording) => recording.close()));
  }
}
