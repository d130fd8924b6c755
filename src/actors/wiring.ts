/** Fills every actor slot of the connection's chart with its effect. */
import type { ConnectionEffects } from '../../machines/connection/connection.effects.js';
import { connectionMachine, type ConnectionMachine } from '../../machines/connection/connection.machine.js';
import { MANAGED } from '../../machines/connection/connection.managed.js';
import { adoptTools, readTools } from './read-tools.js';
import { authorize } from './authorize.js';
import type { EffectPorts } from './effect-ports.js';
import { closeSession, drainCalls, killSession, retireSession } from './end-session.js';
import { enrichCatalog } from './enrich-catalog.js';
import { handshake } from './handshake.js';
import type { LaunchPlans } from '../sessions/launch-plans.js';
import { openTransport } from './open-transport.js';
import { probe } from './probe.js';
import { resolveConfig } from './resolve-config.js';
import { subscribe, watchSession } from './watch-session.js';

export function wireConnection(ports: EffectPorts, plans: LaunchPlans): ConnectionMachine {
  const close = closeSession(ports);
  const effects: ConnectionEffects = {
    resolveConfig: resolveConfig(ports, plans),
    openTransport: openTransport(ports, plans),
    handshake: handshake(ports),
    readTools: readTools(ports),
    adoptTools: adoptTools(ports),
    enrichCatalog: enrichCatalog(ports),
    authorize: authorize(ports),
    probe: probe(ports),
    subscribe: subscribe(ports),
    retireSession: retireSession(ports),
    watchSession: watchSession(ports),
    releaseSession: close,
    drainCalls: drainCalls(ports),
    closeSession: close,
    killSession: killSession(ports),
  };
  const machine = connectionMachine.provide({ ...MANAGED, actors: { ...effects } });
  return ports.adaptConnection?.(machine, effects) ?? machine;
}
