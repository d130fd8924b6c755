/**
 * Writes every lifecycle event to a file as a line of JSON, between them what the chaos did, and checks what must hold
 * for any sequence of them. Keeps counts and open calls, never the events.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const MAX_FAULTS = 20;
/** The tools of the servers that may be called again although they may have been at work. */
const SAFE_TO_REPEAT = new Set(['read', 'put']);

export class EventLog {
  counts = {};
  /** Outcome → how many sendings ended so that were not repeated, as the events tell. */
  outcomes = {};
  /** Code → how many connections failed with it. */
  failures = {};
  faults = [];
  #stream;
  #subscription;
  #lastSeq = 0;
  #generations = new Map();
  #openCalls = new Map();
  /** Number → what the sendings that might be repeated leave open. */
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

  /** A line of the run's own. */
  note(type, details) {
    this.#stream.write(`${JSON.stringify({ type: `chaos.${type}`, at: Date.now(), ...details })}\n`);
  }

  /** After the troupe was closed: no more events, and no call is open. */
  async end() {
    this.#subscription.unsubscribe();
    for (const [call, { tool }] of this.#openCalls)
      this.#fault(`call ${call} (${tool}) was never told finished`);
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

  /** That of the session in use never goes back within one life of a connection; some events are about another session. */
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
    if (this.#openCalls.has(call)) this.#fault(`call ${call} (${tool}) was told started twice`);
    const lost = this.#repeatable.get(repeats);
    this.#openCalls.set(call, { tool, lost });
    if (repeats === undefined) return;
    this.outcomes[lost] -= 1;
    const isSafe = lost === 'not-sent' || SAFE_TO_REPEAT.has(tool);
    if (!isSafe) this.#fault(`call ${call} (${tool}) repeats ${repeats}, which was ${lost}`);
  }

  /** A repetition that was not sent leaves open what became of the first sending. */
  callFinished({ call, tool, outcome }) {
    const open = this.#openCalls.get(call);
    if (open === undefined) this.#fault(`call ${call} (${tool}) was told finished without a start`);
    this.#openCalls.delete(call);
    const last = outcome === 'not-sent' ? (open?.lost ?? outcome) : outcome;
    this.outcomes[last] = (this.outcomes[last] ?? 0) + 1;
    if (outcome !== 'answered') this.#repeatable.set(call, last);
  }

  connectionFailed({ failure }) {
    this.failures[failure.code] = (this.failures[failure.code] ?? 0) + 1;
    if (failure.code === 'internal') this.#fault(`an error of the runtime: ${failure.message}`);
  }

  managerFailed({ message }) {
    this.#fault(`the manager broke: ${message}`);
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
