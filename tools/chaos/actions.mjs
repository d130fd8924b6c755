/**
 * Implements the steps of a plan: uses Troupe as any host would, and controls the servers. A step that lasts undoes its
 * effect itself. `world.pause` ends immediately when the chaos is over.
 */
import { WELL } from './servers/serve.mjs';
import { signal } from './fleet.mjs';

const pidOf = ({ troupe }, name) => troupe.connection(name)?.status.pid ?? null;

export const ACTIONS = {
  async mood({ fleet, pause }, { to, mood, forMs }) {
    await fleet.setMood(to, mood);
    await pause(forMs);
    await fleet.setMood(to, WELL);
  },

  async kill(world, step) {
    signal(pidOf(world, step.to), step.signal);
  },

  async freeze(world, { to, forMs }) {
    const pid = pidOf(world, to);
    world.fleet.freeze(pid);
    await world.pause(forMs);
    world.fleet.thaw(pid);
  },

  async cut({ fleet }, { to }) {
    await fleet.cut(to);
  },

  async forgetSessions({ fleet }, { to }) {
    await fleet.forgetSessions(to);
  },

  async refuseConnections({ fleet, pause }, { to, forMs }) {
    await fleet.listen(to, false);
    await pause(forMs);
    await fleet.listen(to, true);
  },

  async sendListChanged({ fleet }, { to }) {
    fleet.sendListChanged(to);
  },

  async restart({ troupe }, { to }) {
    await troupe.connection(to)?.restart();
  },

  async stop({ troupe, pause }, { to, forMs }) {
    await troupe.connection(to)?.stop();
    await pause(forMs);
    await troupe.connection(to)?.start();
  },

  async retry({ troupe }, { to }) {
    await troupe.connection(to)?.retry();
  },

  async refresh({ troupe }, { to }) {
    await troupe.connection(to)?.refresh();
  },

  async remove({ troupe, fleet, pause }, { to, forMs }) {
    fleet.want(to, false);
    await troupe.remove(to);
    await pause(forMs);
    fleet.want(to, true);
    await troupe.add(to, fleet.entry(to));
  },

  /** The servers that the previous reload left out return. */
  async reload({ troupe, fleet }, { edited, leftOut }) {
    for (const name of edited) fleet.edit(name);
    fleet.leaveOut(leftOut);
    await troupe.reload(fleet.entries);
  },

  async network({ troupe, pause }, { forMs }) {
    troupe.setOnline(false);
    await pause(forMs);
    troupe.setOnline(true);
  },

  async restartHost({ fleet, pause }, { forMs }) {
    await fleet.killHost();
    await pause(forMs);
    await fleet.startHost();
  },

  async freezeHost({ fleet, pause }, { forMs }) {
    const pid = fleet.hostPid;
    fleet.freeze(pid);
    await pause(forMs);
    fleet.thaw(pid);
  },
};
