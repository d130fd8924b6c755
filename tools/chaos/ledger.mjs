/**
 * Every call of a run with its one outcome, and what is wrong with them once the journal of the servers and the
 * events of the troupe are held beside it.
 */

/** The outcome that each error of a call means. */
const OUTCOMES = {
  CALL_TIMEOUT: 'timed-out',
  CALL_ABORTED: 'aborted',
  NOT_READY: 'not-sent',
  OUTCOME_UNKNOWN: 'outcome-unknown',
  JSON_RPC_ERROR: 'server-error',
  UNKNOWN_TOOL: 'no-such-tool',
};
/** These come about in no other way than an event tells. */
const ALWAYS_TOLD = ['answered', 'tool-error', 'server-error', 'timed-out'];
/** Side effects that must not happen twice. */
const ONCE = new Set(['act', 'slow']);
/** What could be noted once for each call is noted this often at most. */
const MAX_EXAMPLES = 10;

export class Ledger {
  #calls = new Map();
  #faults = [];
  #counts = {};

  begin(id, tool) {
    this.#calls.set(id, { tool, outcome: undefined });
  }

  /** `limitMs` is what the call may have taken. */
  answered(id, result, tookMs, limitMs) {
    if (result.content?.[0]?.text !== id) this.#fault(`${id} was given the answer of another call`);
    this.#settle(id, result.isError === true ? 'tool-error' : 'answered', tookMs, limitMs);
  }

  failed(id, error, tookMs, limitMs) {
    const outcome = OUTCOMES[error?.code];
    if (outcome === undefined) this.#fault(`${id} failed with an unexpected error: ${error?.stack ?? error}`);
    this.#settle(id, outcome ?? 'unexpected', tookMs, limitMs);
  }

  /** How many listeners the settled call left on its caller's signal. */
  listeners(id, count) {
    if (count > 0) this.#fault(`${id} left ${count} listeners on its caller's signal`);
  }

  /** Outcome → how many calls ended so. */
  get counts() {
    return this.#counts;
  }

  get size() {
    return this.#calls.size;
  }

  outcome(id) {
    return this.#calls.get(id)?.outcome;
  }

  /** What is wrong with the calls, as sentences. `journal` is what the servers noted, `told` outcome → events. */
  judge(journal, told) {
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
      ...this.#comparedWith(told),
    ];
  }

  #settle(id, outcome, tookMs, limitMs) {
    const call = this.#calls.get(id);
    if (call.outcome !== undefined) this.#fault(`${id} settled twice: ${call.outcome}, then ${outcome}`);
    if (tookMs > limitMs) this.#fault(`${id} took ${Math.round(tookMs)} ms and may take ${limitMs}`);
    call.outcome = outcome;
    this.#counts[outcome] = (this.#counts[outcome] ?? 0) + 1;
  }

  #fault(text) {
    this.#faults.push(text);
  }

  /** What the events say of the last sending of each call; a call that was given up may have ended so before or after. */
  #comparedWith(told) {
    const count = (counts, outcome) => counts[outcome] ?? 0;
    const untold = count(this.#counts, 'aborted') - count(told, 'aborted');
    const mayDiffer = {
      ...Object.fromEntries(ALWAYS_TOLD.map((outcome) => [outcome, [0, 0]])),
      'outcome-unknown': [0, untold],
      'not-sent': [-Infinity, untold],
      aborted: [-Infinity, 0],
    };
    return Object.entries(mayDiffer).flatMap(([outcome, [low, high]]) => {
      const [calls, events] = [count(this.#counts, outcome), count(told, outcome)];
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
