/**
 * Checks trust first, then expands the entry. The expanded entry stays outside the machine until its session is opened.
 * If the server may stay dormant, its entry is not expanded until the server is needed.
 */
import type {
  ResolveConfigInput,
  ResolveConfigOutput,
  Unsettled,
} from '../../machines/connection/connection.events.js';
import { effect } from './effect.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { TransportError } from '../failures/transport-error.js';
import type { EffectPorts, Placed } from './effect-ports.js';
import type { LaunchPlans } from '../sessions/launch-plans.js';

export function resolveConfig(ports: EffectPorts, plans: LaunchPlans) {
  return effect<Unsettled<ResolveConfigOutput>, ResolveConfigInput>(ports, {
    phase: 'configure',
    run: async ({ name, generation, wanted }, signal) => {
      const { servers, catalogs, cache, reviews } = ports;
      if (!wanted && servers.settings(name).start === 'lazy') {
        if (!(await servers.askForTrust(name))) return { kind: 'untrusted' };
        await cache?.recall(name);
        if (catalogs.get(name) !== undefined) return { kind: 'dormant' };
      }
      const resolution = await servers.resolve(name);
      if (resolution.kind === 'untrusted') return resolution;
      const { folder, elsewhere } = resolution;
      const { config, place } = await placed(ports, name, resolution.config, signal);
      plans.set(
        { name, generation },
        {
          config,
          folder,
          elsewhere,
          place,
          cacheKey: cache && servers.cacheKey(name),
          reviewed: reviews?.target(name),
        },
      );
      await cache?.recall(name);
      return { kind: 'resolved' };
    },
  });
}

/** Finds out where a server runs that runs once in the fleet, which may take until this host has its lease. */
async function placed(
  { once }: EffectPorts,
  name: string,
  config: ServerConfig,
  signal: AbortSignal,
): Promise<Placed> {
  if (!('command' in config) || config.only === undefined) return { config };
  if (once === undefined) {
    throw new TransportError({
      code: 'needs-fleet',
      message: `The entry of '${name}' has "only": "fleet", and this troupe has no fleet.`,
      hint: "Pass the option 'fleet', or remove 'only' from the entry.",
    });
  }
  return once.place(name, config, signal);
}
