/**
 * The recordings of one troupe: the one that its options request, and those that the host begins and ends while it runs.
 * The recorder loads when it is first needed.
 */
import { resolve } from 'node:path';
import type { ManagerInput } from '../../machines/manager/manager.events.js';
import { ConfigError } from '../errors.js';
import {
  recordProblem,
  toRecordOptions,
  type RecordTarget,
  type Recording,
} from '../event-log/record/record-options.js';
import type { Recorder } from '../event-log/record/recorder.js';
import type { ObservableSystem } from '../event-log/record/observed-system.js';
import type { LifecycleEventType } from '../lifecycle/event.js';
import type { Lifetime } from '../lifecycle/lifetime.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { RecordedFile } from '../event-log/record/recorded-file.js';
import type { Wire } from '../event-log/record/wire-tap.js';
import type { Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';

/** Events that a log should hold although no chart receives them. */
const NOTED: ReadonlySet<LifecycleEventType> = new Set([
  'connection.rejected',
  'call.started',
  'call.finished',
]);

/** Longest time that a sink may take for the rest when its recording ends. */
const CLOSE_LIMIT_MS = 2_000;

export interface RecordingsParts {
  readonly system: () => ObservableSystem;
  readonly publisher: Pick<Publisher, 'publish' | 'events$'>;
  readonly wire: Pick<Wire, 'listen'>;
  readonly clock: Clock;
  readonly seed: number;
  /** What the manager was started with. */
  readonly manager: ManagerInput;
  readonly lifetime: Pick<Lifetime, 'isClosed'>;
}

export class Recordings {
  /** Each with its file; undefined for a sink of the host. */
  readonly #running = new Map<Recording, RecordedFile | undefined>();

  /** `target` is the one of the options. */
  constructor(
    private readonly target: RecordTarget | undefined,
    private readonly parts: RecordingsParts,
  ) {}

  /** Begins the recording that the options request. */
  async open(): Promise<void> {
    if (this.target !== undefined) await this.begin(this.target);
  }

  /** The file of the recording that has run for the longest; undefined if no file is written. */
  get file(): RecordedFile | undefined {
    return [...this.#running.values()].find((file) => file !== undefined);
  }

  /**
   * Begins a recording. Rejects with a `ConfigError` for an invalid target. A target that cannot be written ends the
   * recording with a `diagnostic`.
   */
  async begin(asked: RecordTarget): Promise<Recording> {
    const problem = recordProblem(asked);
    if (problem !== undefined) throw new ConfigError(`record: ${problem}`);
    const { target, wire = false, bodies = false, host, ...file } = toRecordOptions(asked);
    const { makeRecorder, createLogFile } = await import('../event-log/record/make-recorder.js');
    if (this.parts.lifetime.isClosed) return { close: async () => {} };
    const { publisher, clock, system, seed, manager } = this.parts;
    const where = typeof target === 'string' ? `'${target}'` : 'the sink of the host';
    const recorder: Recorder = makeRecorder({
      system: system(),
      sink: typeof target === 'string' ? createLogFile(target, file) : target,
      clock,
      seed,
      host,
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
    // A message may be sent while the machines process an event, so the note waits for a microtask.
    const stopListening =
      wire || bodies
        ? this.parts.wire.listen({ bodies, note: (note) => queueMicrotask(() => recorder.note(note)) })
        : (): void => {};
    const end = async (): Promise<void> => {
      this.#running.delete(recording);
      following.unsubscribe();
      stopListening();
      const isDone = await settlesWithin(clock, CLOSE_LIMIT_MS, recorder.close());
      if (isDone) return;
      const message = `The end of the recording to ${where} could not be written within ${CLOSE_LIMIT_MS / 1_000} s.`;
      publisher.publish({ type: 'diagnostic', kind: 'record-failed', message });
    };
    const recording: Recording = { close: () => (closed ??= end()) };
    const path = typeof target === 'string' ? resolve(target) : undefined;
    this.#running.set(recording, path === undefined ? undefined : { path, seed, startedAt: clock.now() });
    recorder.start();
    return recording;
  }

  /** Ends all recordings. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((recording) => recording.close()));
  }
}
