/** Trust first, then expansion; the expanded entry stays outside the machine until `openTransport` takes it. */
import type { ResolveConfigInput, ResolveConfigOutput, Unsettled } from '../../machines/connection.events.js';
import { effect } from './effect.js';
import type { EffectPorts } from './effect-ports.js';
import type { LaunchPlans } from './launch-plans.js';

export function resolveConfig(ports: EffectPorts, plans: LaunchPlans) {
  return effect<Unsettled<ResolveConfigOutput>, ResolveConfigInput>(ports, {
    phase: 'configure',
    run: async ({ name, wanted }) => {
      const resolution = await ports.servers.resolve(name);
      if (resolution.kind === 'untrusted') return resolution;
      const isKnown = ports.catalogs.get(name) !== undefined;
      if (!wanted && isKnown && ports.servers.isLazy(name)) return { kind: 'dormant' };
      plans.set(name, resolution.config);
      return { kind: 'resolved', hash: resolution.hash };
    },
  });
}
