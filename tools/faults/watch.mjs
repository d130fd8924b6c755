/**
 * Follows a troupe through its public observers and records the input of the checks: the states of each server with
 * their times, its processes, its last error, the diagnostics, and the relevant texts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from './processes.mjs';
import { ESCAPES, textsOf, textsOfError, failureText } from './shown-texts.mjs';

/** How long to wait for a lasting state, and how long a state has to last if an earlier one did not. */
const LASTING_LIMIT_MS = 5_000;
const LASTING_MS = 1_000;
const POLL_MS = 20;

/** `sessions` also counts attempts. */
const NOTHING_OBSERVED = { state: 'absent', error: null, pid: null, firstPid: null, sessions: 0 };

/** The state of a row in the terms of the kit; `starting`, `stopping` and `stopped` are additions. */
export function kitState({ state, tags, error, reason }) {
  if (tags.includes('awaitingTrust')) return 'pending-approval';
  if (tags.includes('authorizing')) return 'auth-required';
  if (state === 'stopped') return reason === 'disabled' ? 'disabled' : 'stopped';
  if (state === 'shuttingDown') return 'stopping';
  if (state === 'ready' || state === 'failed') return state;
  return state === 'reconnecting' && error !== null ? 'failed' : 'starting';
}

export class Watch {
  /** Name → what was observed of that server. */
  servers = new Map();
  diagnostics = [];
  /** Problems of the configuration as sentences, by server; those of the whole configuration under ''. */
  configErrors = new Map();
  /** The shown texts with a secret or an escape sequence. To keep all texts would be a memory leak. */
  texts = new Set();
  #startedAt = 0;
  #subscriptions = [];
  #listed = new Set();
  #secrets;
  #onProcess;

  /** `secrets` are searched in every text; `onProcess` is called with every process of a server. */
  constructor({ secrets = [], onProcess = () => {} } = {}) {
    this.#secrets = secrets;
    this.#onProcess = onProcess;
  }

  follow(troupe) {
    this.#startedAt = Date.now();
    this.#subscriptions = [
      troupe.events$.subscribe((event) => this.#hear(event)),
      troupe.status$.subscribe((rows) => rows.forEach((row) => this.#see(row))),
    ];
  }

  end() {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  /**
   * Records the current state of each server as its last one. Waits while a server retries, and until a server that was
   * lost before has been ready for some time: a short-lived start does not count as a state.
   */
  async takeStock(troupe) {
    const deadline = Date.now() + LASTING_LIMIT_MS;
    while (troupe.status.some((row) => this.#isPassing(row)) && Date.now() < deadline) await pause(POLL_MS);
    const rows = new Map(troupe.status.map((row) => [row.server, row]));
    for (const row of rows.values()) this.#see(row);
    for (const [name, server] of this.servers) {
      const row = rows.get(name);
      server.state = row === undefined ? 'absent' : kitState(row);
      server.pid = row?.pid ?? null;
      server.running = server.pids.filter(isAlive);
    }
  }

  /** Records the first process of each server. */
  notePids(troupe) {
    for (const row of troupe.status) this.#server(row.server).firstPid ??= row.pid;
  }

  /** Servers whose list has arrived since the last call; every session brings one. */
  takeListed() {
    const listed = this.#listed;
    this.#listed = new Set();
    return listed;
  }

  keep(value) {
    for (const text of textsOf(value)) this.#keepText(text);
  }

  keepError(error) {
    for (const text of textsOfError(error)) this.#keepText(text);
  }

  #keepText(text) {
    if ([...ESCAPES, ...this.#secrets].some((part) => text.includes(part))) this.texts.add(text);
  }

  /** A logger for the troupe. */
  get logger() {
    const log = (message, details) => this.keep([message, details]);
    return { debug: log, info: log, warn: log, error: log };
  }

  addConfigError(message, server = '') {
    const known = this.configErrors.get(server) ?? [];
    if (!known.includes(message)) this.configErrors.set(server, [...known, message]);
  }

  #isPassing(row) {
    const state = kitState(row);
    if (state === 'starting') return row.error !== null;
    const wasLost = this.servers.get(row.server)?.timeline.some((one) => one.state === 'failed');
    return state === 'ready' && wasLost && Date.now() - row.connectedAt < LASTING_MS;
  }

  #hear(event) {
    this.keep(event);
    if (event.type === 'connection.ready') this.#listed.add(event.server);
    if (event.type !== 'diagnostic') return;
    const { server = '', kind, message } = event;
    this.diagnostics.push(`${server}: ${kind}: ${message}`);
    if (kind === 'config-problem') this.addConfigError(message, server);
  }

  #see(row) {
    this.keep(row);
    const server = this.#server(row.server);
    const state = kitState(row);
    if (server.timeline.at(-1)?.state !== state) {
      server.timeline.push({ state, ms: Date.now() - this.#startedAt });
    }
    if (row.pid !== null && !server.pids.includes(row.pid)) {
      server.pids.push(row.pid);
      this.#onProcess(row.pid);
    }
    if (row.error !== null) server.error = failureText(row.error);
    server.sessions = Math.max(server.sessions, row.generation);
  }

  #server(name) {
    const known = this.servers.get(name);
    if (known !== undefined) return known;
    const server = { ...NOTHING_OBSERVED, timeline: [], pids: [], running: [] };
    this.servers.set(name, server);
    return server;
  }
}
