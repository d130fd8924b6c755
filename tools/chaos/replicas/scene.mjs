/**
 * An engine, two replicas behind a plain proxy, a third host whose program calls tools itself, and clients that call all the time.
 * Each host has a link of its own to the engine.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startRoundRobin } from '../../../test/support/round-robin.mjs';
import { runsOf } from '../hosts/beats.mjs';
import { openEngine } from '../hosts/engine.mjs';
import { SeededRandom } from '../seeded-random.mjs';
import { within } from '../within.mjs';
import { Caller, now } from './caller.mjs';
import { embeddedClient, openStatelessClient, SessionClient } from './clients.mjs';
import { Replica } from './replica.mjs';

const NAME = 'mcp.example.com';
const SERVERS = ['plain', 'once'];
const LEASE_MS = 6_000;
/** Longest wait of the hosts for a session, and for an answer. */
const CALL_TIMEOUT_MS = 8_000;
/** Longest time of a call. A host that is gone is found after 15 s, so its clients hear of that in time. */
const LIMIT_MS = 20_000;
/** What a busy machine may add to that. */
const SPARE_MS = 5_000;
/** A host that was asked to leave a server has done so. */
const LEAVE_MS = 2_000;
/** As `--drain-delay`: longer than the hosts wait for a session. */
const DRAIN_DELAY_MS = 10_000;
const DRAIN_LIMIT_MS = 30_000;
/** Every caller succeeds again within this time after the end of a fault. */
const RECOVERY_MS = LIMIT_MS + 15_000;
/** Calls of each caller that must succeed after a fault. */
const ENOUGH = 3;
/** What was sent late is carried out within this time, and the guards of hosts that were killed end their servers. */
const REST_MS = 1_500;

export class Scene {
  engine;
  leaseMs = LEASE_MS;
  limitMs = LIMIT_MS + SPARE_MS;
  #kind;
  #random;
  #hasPeerLink;
  #folder = mkdtempSync(join(tmpdir(), 'chaos-replicas-'));
  #journal = join(this.#folder, 'journal.jsonl');
  #beats = join(this.#folder, 'beats');
  #front;
  /** The host whose program calls. */
  #embedding;
  #replicas = [];
  #clients = [];
  #callers = [];

  constructor(kind, random, hasPeerLink) {
    this.#kind = kind;
    this.#random = random;
    this.#hasPeerLink = hasPeerLink;
  }

  /** `hasPeerLinks`: the hosts can be cut off from each other. */
  static async open({ kind, random, hasPeerLinks = false }) {
    const scene = new Scene(kind, random, hasPeerLinks);
    try {
      await scene.#begin();
      return scene;
    } catch (error) {
      await scene.close();
      throw error;
    }
  }

  pause(ms) {
    return pause(ms);
  }

  /** Any host, or a replica: the one that runs the server which may run once, or another one. */
  async find(what, holds) {
    const places = () =>
      (what === 'replica' ? this.#replicas : this.#hosts).filter((host) => host.holds === holds);
    const endAt = now() + RECOVERY_MS;
    while (places().length === 0) {
      if (now() > endAt) throw new Error('No such host runs the server that may run once.');
      if (this.#embedding.holds) this.#embedding.leaveOnce();
      await pause(LEAVE_MS);
    }
    await this.recovered();
    return this.#random.pick(places());
  }

  /** Replaces a replica as an orchestrator does: new connections go elsewhere before the process ends. */
  async drain(replica) {
    const next = await this.#start();
    this.#replicas = [...this.#replicas.filter((other) => other !== replica), next];
    this.#serve();
    replica.signal('SIGTERM');
    try {
      const code = await within(DRAIN_LIMIT_MS, 'The end of a drained replica', replica.ended);
      if (code !== 0) throw new Error(`A drained replica ended with ${code}.`);
    } finally {
      await replica.remove();
    }
  }

  async replace(replica) {
    await replica.remove();
    const next = await this.#start();
    this.#replicas = [...this.#replicas.filter((other) => other !== replica), next];
    this.#serve();
  }

  /** The proxy sends nothing to that replica. */
  leaveOut(replica) {
    this.#serve(replica);
  }

  /** The proxy sends to all replicas. */
  takeIn() {
    this.#serve();
  }

  cutPeers() {
    for (const { peerLink } of this.#hosts) peerLink.cut();
  }

  joinPeers() {
    for (const { peerLink } of this.#hosts) peerLink.join();
  }

  /** Sessions that were lost so far. */
  get lost() {
    return this.#clients.reduce((sum, { lost }) => sum + lost, 0);
  }

  get calls() {
    return this.#callers.flatMap(({ calls }) => calls);
  }

  /** When servers that may run once ran. */
  runs() {
    return existsSync(this.#beats) ? runsOf(readFileSync(this.#beats, 'utf8')) : [];
  }

  /** The ids of the calls that were carried out. */
  journal() {
    const lines = readFileSync(this.#journal, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line).id);
  }

  /** Resolves when every caller succeeds again. */
  async recovered() {
    const since = now();
    for (;;) {
      const waiting = this.#callers.filter((caller) => caller.succeededSince(since) < ENOUGH);
      if (waiting.length === 0) return;
      if (now() - since > RECOVERY_MS) {
        const last = waiting.map(({ calls }) => `${calls.at(-1)?.id}, before it: ${calls.at(-2)?.about}`);
        throw new Error(`Not every client succeeds again within ${RECOVERY_MS} ms: ${last.join('; ')}`);
      }
      await pause(50);
    }
  }

  /** Resolves when every call has settled, and what was sent late is carried out. */
  async quiet() {
    const settled = Promise.all(this.#callers.map((caller) => caller.stop()));
    // What did not settle is reported by the judge.
    await within(this.limitMs, 'The last call', settled).catch(() => {});
    await pause(REST_MS);
  }

  async close() {
    for (const caller of this.#callers) void caller.stop();
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#front?.close();
    await Promise.all(this.#hosts.map((host) => host.remove()));
    await this.engine?.remove();
    await pause(REST_MS);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #hosts() {
    return this.#embedding === undefined ? this.#replicas : [...this.#replicas, this.#embedding];
  }

  async #begin() {
    this.engine = await openEngine(this.#kind);
    this.#front = await startRoundRobin(NAME);
    for (let count = 0; count < 2; count += 1) this.#replicas.push(await this.#start());
    this.#embedding = await this.#start();
    this.#serve();
    const { url } = this.#front;
    const clients = {
      host: embeddedClient(this.#embedding),
      'v1-a': new SessionClient(url, LIMIT_MS),
      'v1-b': new SessionClient(url, LIMIT_MS),
      v2: await openStatelessClient(url, LIMIT_MS),
    };
    this.#clients = Object.values(clients);
    for (const [name, client] of Object.entries(clients))
      for (const server of SERVERS) {
        // Its choices do not depend on how often others call.
        const random = new SeededRandom(this.#random.between(0, 2 ** 32 - 1));
        this.#callers.push(new Caller({ client, name, server, random }));
      }
    await this.recovered();
  }

  #start() {
    return Replica.start({
      kind: this.#kind,
      engine: this.engine.port,
      hasPeerLink: this.#hasPeerLink,
      publicUrl: `http://${NAME}`,
      leaseMs: LEASE_MS,
      callTimeoutMs: CALL_TIMEOUT_MS,
      drainDelayMs: DRAIN_DELAY_MS,
      journal: this.#journal,
      beats: this.#beats,
    });
  }

  #serve(leftOut) {
    this.#front.ports = this.#replicas.flatMap((replica) => (replica === leftOut ? [] : [replica.port]));
  }
}
