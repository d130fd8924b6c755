/** Troupes for tests: on a controlled clock, with a record of their events, closed after each test. */
import { afterEach, beforeAll, expect } from 'vitest';
import type { Observable } from 'rxjs';
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import type { TroupeOptions } from '../../src/options.js';
import type { ServerConfig, ServerSettings } from '../../src/config/entry/server-config.js';
import { checkOptions } from '../../src/runtime/check-options.js';
import { createTransport, type CreateTransport } from '../../src/transports/create-transport.js';
import { Troupe } from '../../src/runtime/troupe.js';
import { createControlledClock, type ControlledClock } from './controlled-clock.js';
import { recordEvents, type EventRecord } from './event-record.js';
import { fakeServerOf } from './fake-server.js';
import type { ScriptedServer } from './scripted-server.js';

export interface TestTroupe {
  readonly troupe: Troupe;
  readonly clock: ControlledClock;
  readonly events: EventRecord;
}

export function inProcess(server: ScriptedServer, settings: ServerSettings = {}): ServerConfig {
  return { type: 'in-process', server, ...settings };
}

const transports: CreateTransport = async (config, terms) =>
  fakeServerOf(config)?.createTransport() ?? createTransport(config, terms);

/** Like `createTroupe`; the troupe can also reach fake servers. */
export function makeTroupe(options: TroupeOptions): Troupe {
  checkOptions(options);
  return new Troupe(options, { createTransport: transports });
}

/** `make` creates a troupe that is closed after the test. The test fails if closing exceeds the limit of `passTime`. */
export function useTroupes(): { make(options?: TroupeOptions): TestTroupe } {
  const made: TestTroupe[] = [];
  // Loaded in advance, so that no test waits for a module while its clock stands still.
  beforeAll(() =>
    Promise.all([
      import('../../src/actors/configuration-effects.js'),
      import('../../src/servers/load-config.js'),
      import('../../src/event-log/record/make-recorder.js'),
      import('../../src/protocol/session-client.js'),
      import('../../src/protocol/stateless-client.js'),
      import('../../src/transports/in-process.js'),
      import('../../src/schemas/json-schema.js'),
    ]),
  );
  afterEach(async () => {
    for (const { troupe, clock } of made.splice(0)) await passTime(clock, troupe.close());
  });
  return {
    make(options = {}) {
      const clock = createControlledClock();
      const troupe = makeTroupe({ clock, seed: 1, ...options });
      const test = { troupe, clock, events: recordEvents(troupe.events$) };
      made.push(test);
      return test;
    },
  };
}

/** Advances the clock by a second at a time until the promise settles; fails after `limitMs`. */
export async function passTime<T>(clock: ControlledClock, promise: Promise<T>, limitMs = 60_000): Promise<T> {
  const wait = { isOver: false };
  const settle = (): void => {
    wait.isOver = true;
  };
  promise.then(settle, settle);
  await clock.advance(0);
  for (let passed = 0; !wait.isOver && passed < limitMs; passed += 1_000) await clock.advance(1_000);
  expect(wait.isOver, `settled within ${limitMs} ms`).toBe(true);
  return promise;
}

/** Resolves with the first value that matches. */
export function whenEmits<T>(source: Observable<T>, fits: (value: T) => boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    const subscription = source.subscribe({
      next: (value) => {
        if (!fits(value)) return;
        resolve(value);
        queueMicrotask(() => subscription.unsubscribe());
      },
      error: reject,
      complete: () => reject(new Error('The observable completed without a matching value.')),
    });
  });
}

/** Resolves when a connection is in the state, immediately if it already is. */
export async function whenState({ troupe }: TestTroupe, name: string, state: ConnectionState): Promise<void> {
  const connection = troupe.connection(name);
  if (connection === undefined) throw new Error(`There is no connection '${name}'.`);
  await whenEmits(connection.state$, (now) => now === state);
}
