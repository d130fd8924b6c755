/**
 * Every actor slot of the connection chart and the effect that fills it.
 */
import { connectionMachine } from '../../machines/connection.machine.js';
import { authorize } from './authorize.js';
import type { EffectPorts } from './effect-ports.js';
import { closeSession, drainCalls, killSession, retireSession } from './end-session.js';
import { enrichCatalog } from './enrich-catalog.js';
import { handshake } from './handshake.js';
import type { KnownPlaces } from './known-places.js';
import type { LaunchPlans } from './launch-plans.js';
import { listTools } from './list-tools.js';
import { openTransport } from './open-transport.js';
import { prepareSession } from './prepare-session.js';
import { probe } from './probe.js';
import { resolveConfig } from './resolve-config.js';
import { watchSession } from './watch-session.js';

export function wireConnection(
  ports: EffectPorts,
  plans: LaunchPlans,
  places: KnownPlaces,
): typeof connectionMachine {
  const close = closeSession(ports);
  return connectionMachine.provide({
    actors: {
      resolveConfig: resolveConfig(ports, plans),
      openTransport: openTransport(ports, plans, places),
      handshake: handshake(ports, places),
      listTools: listTools(ports, places),
      enrichCatalog: enrichCatalog(ports),
      authorize: authorize(ports),
      probe: probe(ports),
      prepareSession: prepareSession(ports),
      retireSession: retireSession(ports),
      watchSession: watchSession(ports, places),
      releaseSession: close,
      drainCalls: drainCalls(ports),
      closeSession: close,
      killSession: killSession(ports),
    },
  });
}
