/**
 * Writes every lifecycle event and every step of the chaos to a file as a line of JSON, and checks the invariants of the
 * sequence of events. Keeps counts and open calls, never the events.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const MAX_FAULTS = 20;
/** The tools that may be called again even if the first call may have acted. */
const SAFE_TO_REPEAT = new Set(['read', 'put']);

export class EventLog {
  counts = {};
  /** Outcome → number of sent calls with this outcome that were not repeated, by the events. */
  outcomes = {};
  /** Code → number of connections that failed with it. */
  failures = {};
  faults = [];
  #stream;
  #subscription;
  #lastSeq = 0;
  #generations = new Map();
  #openCalls = new Map();
  /** Number of a call that may be repeated → its outcome so far. */
  #repeatable = new Map();

  constructor(file, header) {
    this.#stream = createWriteStream(file, { flags: 'a' });
    this.note('run', header);
  }

  follow(troupe) {
    this.#subscription = troupe.events$.subscribe({
      next: (event) => this.#hear(event),
      complete: () => this.note('completed', {}),
    });
  }

  /** Writes a line about the run itself. */
  note(type, details) {
    this.#stream.write(`${JSON.stringify({ type: `chaos.${type}`, at: Date.now(), ...details })}\n`);
  }

  /** Call this after the troupe has closed: there are no more events, and no call may be open. */
  async end() {
    this.#subscription.unsubscribe();
    for (const [call, { tool }] of this.#openCalls)
      this.#fault(`call ${call} (${tool}) has no call.finished event`);
    for (const fault of this.faults) this.note('fault', { fault });
    this.#stream.end();
    await once(this.#stream, 'close');
  }

  #hear(event) {
    this.#stream.write(`${JSON.stringify(event)}\n`);
    const { type, seq } = event;
    this.counts[type] = (this.counts[type] ?? 0) + 1;
    if (seq <= this.#lastSeq) this.#fault(`event ${seq} (${type}) came after ${this.#lastSeq}`);
    this.#lastSeq = seq;
    this.#checkGeneration(event);
    CHECKS[type]?.(event, this);
  }

  /** The generation of the current session never decreases while a connection exists. Some events name other sessions. */
  #checkGeneration({ type, seq, server, generation }) {
    if (server === undefined || generation === undefined) return;
    const former = type === 'connection.added' ? 0 : (this.#generations.get(server) ?? 0);
    if (type.startsWith('call.') || type === 'server.log' || type === 'diagnostic') return;
    if (generation < former) {
      this.#fault(`event ${seq}: ${server} went from session ${former} back to ${generation} (${type})`);
    }
    this.#generations.set(server, Math.max(former, generation));
  }

  callStarted({ call, tool, repeats }) {
    if (this.#openCalls.has(call)) this.#fault(`call ${call} (${tool}) has two call.started events`);
    const lost = this.#repeatable.get(repeats);
    this.#openCalls.set(call, { tool, lost });
    if (repeats === undefined) return;
    this.outcomes[lost] -= 1;
    const isSafe = lost === 'not-sent' || SAFE_TO_REPEAT.has(tool);
    if (!isSafe) this.#fault(`call ${call} (${tool}) repeats ${repeats}, which was ${lost}`);
  }

  /** If a repetition was not sent, the outcome of the first call stays open. */
  callFinished({ call, tool, outcome }) {
    const open = this.#openCalls.get(call);
    if (open === undefined) this.#fault(`call ${call} (${tool}) has a call.finished event without a start`);
    this.#openCalls.delete(call);
    const last = outcome === 'not-sent' ? (open?.lost ?? outcome) : outcome;
    this.outcomes[last] = (this.outcomes[last] ?? 0) + 1;
    if (outcome !== 'answered') this.#repeatable.set(call, last);
  }

  connectionFailed({ failure }) {
    this.failures[failure.code] = (this.failures[failure.code] ?? 0) + 1;
    if (failure.code === 'internal') this.#fault(`an internal error: ${failure.message}`);
  }

  managerFailed({ message }) {
    this.#fault(`the manager failed: ${message}`);
  }

  #fault(text) {
    if (this.faults.length < MAX_FAULTS) this.faults.push(text);
  }
}

const CHECKS = {
  'call.started': (event, log) => log.callStarted(event),
  'call.finished': (event, log) => log.callFinished(event),
  'connection.failed': (event, log) => log.connectionFailed(event),
  'manager.failed': (event, log) => log.managerFailed(event),
};
