/** An engine that a test puts out of reach of one host, and back. */
import { setImmediate as turn } from 'node:timers/promises';
import { FleetError, type FleetEngine } from '../../src/fleet/engine.js';
import { createMemoryEngine } from '../../src/fleet/memory-engine.js';

/** `away` fails at once; `frozen` fails in a later turn of the event loop, and nobody knows before. */
export type Reach = 'up' | 'away' | 'frozen';

export interface LosableEngine {
  readonly engine: FleetEngine;
  reach: Reach;
}

export function losable(engine: FleetEngine): LosableEngine {
  const away = createMemoryEngine();
  void away.close();
  const silent = async (): Promise<never> => {
    await turn();
    throw new FleetError('engine-unavailable', 'It does not answer.');
  };
  let reach: Reach = 'up';
  const watches = new Set<() => void>();
  /** What was missed is heard when it is back. */
  const watch: FleetEngine['watch'] = async (keys, onChange) => {
    const missed = new Set<string>();
    const hear = (key: string, value: string | undefined): void => {
      if (reach === 'up') onChange(key, value);
      else missed.add(key);
    };
    const goOn = (): void => {
      for (const key of missed) void engine.get(key).then((entry) => hear(key, entry?.value));
      missed.clear();
    };
    const stop = await engine.watch(keys, hear);
    watches.add(goOn);
    return async () => {
      watches.delete(goOn);
      await stop();
    };
  };
  return {
    get reach() {
      return reach;
    },
    set reach(now) {
      reach = now;
      for (const goOn of now === 'up' ? watches : []) goOn();
    },
    engine: new Proxy(engine, {
      get: (_, name) => {
        if (name === 'watch' && reach === 'up') return watch;
        const from = reach === 'away' ? away : engine;
        const value: unknown = Reflect.get(from, name, from);
        if (typeof value !== 'function') return value;
        return reach === 'frozen' && name !== 'publish' ? silent : value.bind(from);
      },
    }),
  };
}
