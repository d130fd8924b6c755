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
import type { EffectPorts } from './effect-ports.js';
import type { LaunchPlans } from '../sessions/launch-plans.js';

export function resolveConfig(ports: EffectPorts, plans: LaunchPlans) {
  return effect<Unsettled<ResolveConfigOutput>, ResolveConfigInput>(ports, {
    phase: 'configure',
    run: async ({ name, generation, wanted }) => {
      const { servers, catalogs, cache, reviews } = ports;
      if (!wanted && servers.settings(name).start === 'lazy') {
        if (!(await servers.askForTrust(name))) return { kind: 'untrusted' };
        await cache?.recall(name);
        if (catalogs.get(name) !== undefined) return { kind: 'dormant' };
      }
      const resolution = await servers.resolve(name);
      if (resolution.kind === 'untrusted') return resolution;
      const { config, folder, elsewhere } = resolution;
      plans.set(
        { name, generation },
        { config, folder, elsewhere, cacheKey: servers.cacheKey(name), reviewed: reviews?.target(name) },
      );
      await cache?.recall(name);
      return { kind: 'resolved' };
    },
  });
}
