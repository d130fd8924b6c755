/** An engine that a test puts out of reach of one host, and back. */
import { FleetError, type FleetEngine } from '../../src/fleet/engine.js';
import { createMemoryEngine } from '../../src/fleet/memory-engine.js';

/** `away` fails at once; `frozen` fails after the limit of an operation, and nobody knows before. */
export type Reach = 'up' | 'away' | 'frozen';

export interface LosableEngine {
  readonly engine: FleetEngine;
  reach: Reach;
}

/** Shorter than the limit of a real engine. */
const LIMIT_MS = 50;

export function losable(engine: FleetEngine): LosableEngine {
  const away = createMemoryEngine();
  void away.close();
  const silent = async (): Promise<never> => {
    await new Promise((resolve) => setTimeout(resolve, LIMIT_MS));
    throw new FleetError('engine-unavailable', 'It does not answer.');
  };
  const link: LosableEngine = {
    reach: 'up',
    engine: new Proxy(engine, {
      get: (_, name) => {
        const from = link.reach === 'away' ? away : engine;
        const value: unknown = Reflect.get(from, name, from);
        if (typeof value !== 'function') return value;
        return link.reach === 'frozen' && name !== 'publish' ? silent : value.bind(from);
      },
    }),
  };
  return link;
}
