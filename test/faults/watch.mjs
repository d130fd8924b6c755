/**
 * Follows a troupe through its public observers and keeps what the checks ask about: when each server was in which
 * state, its processes, the last error told, the diagnostics, and every text that was shown.
 */
import { textsOf, textsOfError, toldFailure } from './told.mjs';

/** The state of a row in the words of the kit; `starting`, `stopping` and `stopped` are ours. */
export function kitState({ state, substate, error, reason }) {
  if (substate.includes('awaitingTrust')) return 'pending-approval';
  if (substate.includes('authorizing')) return 'auth-required';
  if (state === 'stopped') return reason === 'disabled' ? 'disabled' : 'stopped';
  if (state === 'shuttingDown') return 'stopping';
  if (state === 'ready' || state === 'failed') return state;
  return state === 'reconnecting' && error !== null ? 'failed' : 'starting';
}

const isTryingAgain = (row) => kitState(row) === 'starting' && row.error !== null;

export class Watch {
  /** name → what was seen of that server. */
  servers = new Map();
  diagnostics = [];
  /** What is wrong with the configuration, as sentences. */
  configErrors = [];
  texts = new Set();
  #startedAt = 0;
  #subscriptions = [];
  #listed = new Set();

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

  /** Notes the state each server has now as its last one. A server in the middle of a new try has none before that is over. */
  async takeStock(troupe, limitMs) {
    await this.#until(troupe, (rows) => !rows.some(isTryingAgain), limitMs);
    const rows = new Map(troupe.status.map((row) => [row.name, row]));
    for (const row of rows.values()) this.#see(row);
    for (const [name, server] of this.servers) {
      const row = rows.get(name);
      server.state = row === undefined ? 'absent' : kitState(row);
      server.pid = row?.pid ?? null;
    }
  }

  /** Servers whose list has come since this was asked last: one comes with every session. */
  takeListed() {
    const listed = this.#listed;
    this.#listed = new Set();
    return listed;
  }

  keep(value) {
    for (const text of textsOf(value)) this.texts.add(text);
  }

  keepError(error) {
    for (const text of textsOfError(error)) this.texts.add(text);
  }

  /** A logger for the troupe. */
  get logger() {
    const log = (message, details) => this.keep([message, details]);
    return { debug: log, warn: log, error: log };
  }

  /** Resolves when the rows hold, or when the limit is over. */
  async #until(troupe, holds, limitMs) {
    const limit = AbortSignal.timeout(limitMs);
    await new Promise((resolve) => {
      limit.addEventListener('abort', resolve, { once: true });
      this.#subscriptions.push(troupe.status$.subscribe((rows) => holds(rows) && resolve()));
    });
  }

  #hear(event) {
    this.keep(event);
    if (event.type === 'connection.ready') this.#listed.add(event.connection);
    if (event.type !== 'diagnostic') return;
    const { connection = '', kind, message } = event;
    this.diagnostics.push(`${connection}: ${kind}: ${message}`);
    if (kind === 'config-problem') this.configErrors.push(message);
  }

  #see(row) {
    this.keep(row);
    const server = this.#server(row.name);
    const state = kitState(row);
    if (server.timeline.at(-1)?.state !== state) {
      server.timeline.push({ state, ms: Date.now() - this.#startedAt });
    }
    if (row.pid !== null && !server.pids.includes(row.pid)) server.pids.push(row.pid);
    if (row.error !== null) server.error = toldFailure(row.error);
  }

  #server(name) {
    const known = this.servers.get(name);
    if (known !== undefined) return known;
    const server = { timeline: [], pids: [], error: null, state: 'absent', pid: null };
    this.servers.set(name, server);
    return server;
  }
}
