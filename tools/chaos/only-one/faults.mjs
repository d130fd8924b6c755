/** What happens to the host that has the server, to the engine, and to the network between them. */

/** Longer than any lease. */
const beyond = (scene) => scene.pause(scene.leaseMs * 1.6);

export const FAULTS = {
  'host leaves': async (scene) => {
    await scene.holder.leave();
    scene.replace(scene.holder);
  },
  'host killed': async (scene) => {
    const { holder } = scene;
    holder.signal('SIGKILL');
    await beyond(scene);
    scene.replace(holder);
  },
  'host frozen': async (scene) => {
    const { holder } = scene;
    holder.signal('SIGSTOP');
    await beyond(scene);
    holder.signal('SIGCONT');
  },
  'host cut off': async (scene) => {
    const { holder } = scene;
    holder.link.cut();
    await beyond(scene);
    holder.link.join();
  },
  'engine frozen': async (scene) => {
    scene.engine.signal('SIGSTOP');
    await beyond(scene);
    scene.engine.signal('SIGCONT');
  },
  'engine restarted': async (scene) => {
    await scene.engine.end();
    await scene.pause(200);
    await scene.engine.start();
    await beyond(scene);
  },
  'engine wiped': async (scene) => {
    await scene.engine.end();
    scene.engine.wipe();
    await scene.engine.start();
    await beyond(scene);
  },
};
