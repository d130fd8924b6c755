/**
 * The calls of a run with their outcomes. Compares them with the journal of the servers and the events of the troupe,
 * and reports faults.
 */

/** The outcome of a call, by the code of its error. */
const OUTCOMES = {
  CALL_TIMEOUT: 'timed-out',
  CALL_ABORTED: 'aborted',
  NOT_READY: 'not-sent',
  OUTCOME_UNKNOWN: 'outcome-unknown',
  JSON_RPC_ERROR: 'server-error',
  UNKNOWN_TOOL: 'no-such-tool',
};
/** Outcomes that always have an event. */
const ALWAYS_REPORTED = ['answered', 'tool-error', 'server-error', 'timed-out'];
/** Side effects that must not happen twice. */
const ONCE = new Set(['act', 'slow']);
/** Maximum number of examples of each kind of fault. */
const MAX_EXAMPLES = 10;

export class Ledger {
  #calls = new Map();
  #faults = [];
  #counts = {};

  begin(id, tool) {
    this.#calls.set(id, { tool, outcome: undefined });
  }

  /** `limitMs` is the longest allowed duration of the call. */
  answered(id, result, tookMs, limitMs) {
    if (result.content?.[0]?.text !== id) this.#fault(`${id} was given the answer of another call`);
    this.#settle(id, result.isError === true ? 'tool-error' : 'answered', tookMs, limitMs);
  }

  failed(id, error, tookMs, limitMs) {
    const outcome = OUTCOMES[error?.code];
    if (outcome === undefined) this.#fault(`${id} failed with an unexpected error: ${error?.stack ?? error}`);
    this.#settle(id, outcome ?? 'unexpected', tookMs, limitMs);
  }

  /** Records the number of listeners that a settled call left on the signal of its caller. */
  listeners(id, count) {
    if (count > 0) this.#fault(`${id} left ${count} listeners on its caller's signal`);
  }

  /** Outcome → number of calls. */
  get counts() {
    return this.#counts;
  }

  get size() {
    return this.#calls.size;
  }

  outcome(id) {
    return this.#calls.get(id)?.outcome;
  }

  /** The faults as sentences. `journal` is the journal of the servers, `reported` the number of events by outcome. */
  judge(journal, reported) {
    const executed = new Map();
    for (const { ev, id } of journal) if (ev !== 'second') executed.set(id, (executed.get(id) ?? 0) + 1);
    return [
      ...examples(this.#faults),
      ...examples([...this.#calls].flatMap(([id, call]) => faultsOf(id, call, executed.get(id) ?? 0))),
      ...examples(
        [...executed.keys()]
          .filter((id) => !this.#calls.has(id))
          .map((id) => `${id} was executed and never called`),
      ),
      ...examples(
        journal
          .filter(({ ev }) => ev === 'second')
          .map(({ name, pid, former }) => `${name}: process ${pid} was started while ${former} was alive`),
      ),
      ...this.#comparedWith(reported),
    ];
  }

  #settle(id, outcome, tookMs, limitMs) {
    const call = this.#calls.get(id);
    if (call.outcome !== undefined) this.#fault(`${id} settled twice: ${call.outcome}, then ${outcome}`);
    if (tookMs > limitMs)
      this.#fault(`${id} took ${Math.round(tookMs)} ms, but at most ${limitMs} is allowed`);
    call.outcome = outcome;
    this.#counts[outcome] = (this.#counts[outcome] ?? 0) + 1;
  }

  #fault(text) {
    this.#faults.push(text);
  }

  /** Compares the outcomes with the events of the last sending of each call, which may differ for an aborted call. */
  #comparedWith(reported) {
    const count = (counts, outcome) => counts[outcome] ?? 0;
    const unreported = count(this.#counts, 'aborted') - count(reported, 'aborted');
    const mayDiffer = {
      ...Object.fromEntries(ALWAYS_REPORTED.map((outcome) => [outcome, [0, 0]])),
      'outcome-unknown': [0, unreported],
      'not-sent': [-Infinity, unreported],
      aborted: [-Infinity, 0],
    };
    return Object.entries(mayDiffer).flatMap(([outcome, [low, high]]) => {
      const [calls, events] = [count(this.#counts, outcome), count(reported, outcome)];
      const isFine = events - calls >= low && events - calls <= high;
      return isFine ? [] : [`${calls} calls were ${outcome}, but ${events} events say so`];
    });
  }
}

function faultsOf(id, { tool, outcome }, times) {
  if (outcome === undefined) return [`${id} (${tool}) never settled`];
  const about = `${id} (${tool}, ${outcome}) was executed ${times} times`;
  if (times > 1 && ONCE.has(tool)) return [about];
  if (outcome === 'not-sent' && times > 0) return [about];
  if (outcome === 'answered' && tool !== 'read' && times === 0) return [about];
  return [];
}

function examples(faults) {
  const more = faults.length - MAX_EXAMPLES;
  return more > 0 ? [...faults.slice(0, MAX_EXAMPLES), `… and ${more} more`] : faults;
}
