// A manager with five connections, one of which is always active: the real charts, with effects that end immediately.
import { createActor, fromCallback } from 'xstate';
import { fromDist } from './from-dist.mjs';

const { managed } = await fromDist('machines/connection/connection.managed.js');
const { managerMachine } = await fromDist('machines/manager/manager.machine.js');
const { DEFAULT_POLICY } = await fromDist('machines/policy/policy.js');
const { withConnectionFilter } = await fromDist('src/actor-system/event-filter.js');
const { makeRecorder } = await fromDist('src/event-log/record/make-recorder.js');
const { RootSupervisor } = await fromDist('src/actor-system/root-actors.js');
const { NumberedClock } = await fromDist('src/actor-system/numbered-clock.js');

const NAMES = ['files', 'docs', 'web', 'search', 'git'];
const INPUT = {
  ...{ startSlots: 8, slotHoldMs: 500, startGateMs: 10_000 },
  ...{ retryBurst: 20, retryEveryMs: 100 },
};
const POLICY = {
  ...DEFAULT_POLICY,
  backoff: { kind: 'fixed', delaysMs: [1_000] },
  intensity: { restarts: 0, periodMs: 1 },
  maxAttempts: 1e9,
};
const SERVER = {
  info: { name: 'busy', version: '1.0.0' },
  capabilities: { tools: { listChanged: true } },
  protocolVersion: '2025-11-25',
  instructions: null,
};
/** The output of each slot of the chart; other slots have none. */
const OUTPUTS = {
  resolveConfig: { kind: 'resolved' },
  openTransport: { transport: 'stdio', pid: 4_711, url: null },
  handshake: { server: SERVER },
  adoptTools: { hash: 'catalog-1', tools: 3 },
  enrichCatalog: { resources: 2, resourceTemplates: 1, prompts: 4 },
};

export class BusyTroupe {
  now = 1_700_000_000_000;
  #timers = new Set();
  #running = new Map();
  #seed = 7;
  #manager;
  #recorder;

  /** Recorded into the sink if there is one. */
  constructor(sink) {
    const clock = {
      now: () => this.now,
      setTimeout: (fn, ms) => {
        const timer = { fn, at: this.now + ms };
        this.#timers.add(timer);
        return timer;
      },
      clearTimeout: (timer) => this.#timers.delete(timer),
    };
    const timers = new NumberedClock(clock);
    const machineOfOne = managed();
    const { actors } = machineOfOne.implementations;
    const effects = Object.keys(actors).map((slot) => [slot, this.#effect(slot)]);
    const provided = { ...Object.fromEntries(effects), watchSession: this.#watch() };
    const connection = withConnectionFilter(machineOfOne.provide({ actors: provided }), () => {});
    const machine = managerMachine.provide({ actors: { connection } });
    this.#manager = createActor(machine, { input: INPUT, clock: timers }).start();
    if (sink !== undefined) {
      const system = { manager: this.#manager, timers, roots: new RootSupervisor(timers, () => {}) };
      const failed = (error) => {
        throw error;
      };
      this.#recorder = makeRecorder({ system, sink, clock, seed: 1, input: INPUT, failed });
      this.#recorder.start();
    }
    const specs = NAMES.map((name, index) => ({
      source: 'a bench',
      input: {
        ...{ name, transport: index % 2 === 0 ? 'stdio' : 'http', policy: POLICY, seed: index },
        ...{ generation: 0, wanted: true, crash: null, isAttempted: false },
      },
    }));
    this.#manager.send({ type: 'manager.open' });
    this.#manager.send({ type: 'manager.start', specs });
  }

  /** Plays `count` events of a busy fleet: effects settle, timers fire, sessions are lost. */
  async run(steps) {
    await this.#each(steps, () => this.#step());
  }

  /** Plays `count` events that change the context of a connection and start nothing. */
  async runPlain(steps) {
    const sessions = [...this.#running.values()].filter(({ send }) => send !== undefined);
    await this.#each(steps, (step) => {
      this.now += 10;
      const { send, input } = sessions[step % sessions.length];
      send({ type: 'catalog.listChanged', generation: input.generation, at: this.now });
    });
  }

  async #each(steps, work) {
    for (let step = 0; step < steps; step += 1) {
      work(step);
      // Everything settles between two events, as with effects that take time.
      await Promise.resolve();
    }
    for (const child of Object.values(this.#manager.getSnapshot().children))
      if (child.getSnapshot().status !== 'active') throw new Error('a connection has crashed');
  }

  inspect(observer) {
    this.#manager.system.inspect(observer);
  }

  async close() {
    await this.#recorder?.close();
    this.#manager.stop();
  }

  #random() {
    this.#seed = (this.#seed * 1_664_525 + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }

  #step() {
    this.now += 1 + Math.floor(this.#random() * 20);
    for (const [key, effect] of this.#running) {
      if (effect.send !== undefined) continue;
      this.#running.delete(key);
      const output = { ...OUTPUTS[effect.slot], startedAt: this.now - 5, at: this.now };
      return effect.self.send({ type: 'settle', output });
    }
    const chance = this.#random();
    const sessions = [...this.#running.values()];
    if (chance < 0.2 || sessions.length === 0) return this.#fire();
    const { send, input } = sessions[Math.floor(this.#random() * sessions.length)];
    const { generation } = input;
    if (chance < 0.8) return send({ type: 'session.quiet', generation });
    if (chance < 0.9) return send({ type: 'catalog.listChanged', generation, at: this.now });
    if (chance < 0.95) return send({ type: 'session.stable', generation });
    const failure = {
      ...{ code: 'connection-lost', phase: 'session', at: this.now },
      message: 'The connection was lost.',
    };
    return send({ type: 'session.lost', generation, failure });
  }

  #fire() {
    const [next] = [...this.#timers].toSorted((a, b) => a.at - b.at);
    if (next === undefined) return;
    this.#timers.delete(next);
    this.now = Math.max(this.now, next.at);
    next.fn();
  }

  #effect(slot) {
    const keyOf = ({ input }) => `${input.name} ${slot}`;
    return {
      getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
      getPersistedSnapshot: (snapshot) => snapshot,
      start: (snapshot, { self }) => {
        this.#running.set(keyOf(snapshot), { slot, self });
      },
      transition: (snapshot, event) => {
        if (event.type === 'settle') return { ...snapshot, status: 'done', output: event.output };
        if (event.type !== 'xstate.stop') return snapshot;
        this.#running.delete(keyOf(snapshot));
        return { ...snapshot, status: 'stopped' };
      },
    };
  }

  #watch() {
    return fromCallback(({ input, sendBack }) => {
      const key = `${input.name} watchSession`;
      this.#running.set(key, { slot: 'watchSession', send: sendBack, input });
      return () => this.#running.delete(key);
    });
  }
}
