/**
 * Trust first, then expansion; the expanded entry stays outside the machine until `openTransport` takes it. Nothing of a
 * server that may rest is expanded, and nobody asked for a value of it, until it is wanted.
 */
import type { ResolveConfigInput, ResolveConfigOutput, Unsettled } from '../../machines/connection.events.js';
import { effect } from './effect.js';
import type { EffectPorts } from './effect-ports.js';
import type { LaunchPlans } from './launch-plans.js';

export function resolveConfig(ports: EffectPorts, plans: LaunchPlans) {
  return effect<Unsettled<ResolveConfigOutput>, ResolveConfigInput>(ports, {
    phase: 'configure',
    run: async ({ name, wanted }) => {
      const { servers, catalogs, cache } = ports;
      if (!wanted && servers.isLazy(name)) {
        if (!(await servers.isTrusted(name))) return { kind: 'untrusted' };
        await cache?.recall(name);
        if (catalogs.get(name) !== undefined) return { kind: 'dormant' };
      }
      const resolution = await servers.resolve(name);
      if (resolution.kind === 'untrusted') return resolution;
      await cache?.recall(name);
      plans.set(name, resolution.config);
      return { kind: 'resolved', hash: resolution.hash };
    },
  });
}
