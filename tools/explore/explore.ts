/**
 * Visits the states of a fleet breadth first, and checks the invariants in each of them.
 *
 * E1. A forbidden state or step is reported with a shortest path to it.
 * E2. From every state a fair run must lead to a settled one: a path of steps that happen by themselves. Paths may lead
 *     beyond the counted states.
 * E3. No cycle of such steps keeps a connection from settling, whatever the outcomes of the effects, if the end of a
 *     session does not time out forever.
 *
 * Over 300 lines because the search and both checks of its paths share one packed graph.
 */
import { FleetModel, type Fleet, type FleetOptions, type Label } from './fleet.js';
import { describeManager, describeUnit } from './world.js';

export interface ExploreOptions extends FleetOptions {
  /** Distinct states after which no new ones are added. */
  readonly states: number;
  /** Milliseconds after which it stops; 0 = no limit. */
  readonly limitMs?: number;
  /** Events that lead to further initial states; see `WAYS_IN`. */
  readonly ways?: readonly (readonly string[])[];
  readonly now: () => number;
  readonly progress?: (line: string) => void;
}

export interface Finding {
  readonly problem: string;
  /** The events from the start. */
  readonly path: readonly string[];
  /** The final state. */
  readonly state: string;
}

export interface Exploration {
  readonly states: number;
  /** Whether every state was visited. */
  readonly isWhole: boolean;
  readonly expanded: number;
  readonly transitions: number;
  readonly depth: number;
  readonly settled: number;
  readonly connectionStates: number;
  readonly managerStates: number;
  readonly machineSteps: number;
  readonly finding: Finding | null;
}

const MAX_CONNECTION_STATES = 2 ** 18;
const MAX_MANAGER_STATES = 2 ** 16;

/** One number for the three parts of a state. */
function keyOf({ first, second, manager }: Fleet): number {
  return (first * MAX_CONNECTION_STATES + second + 1) * MAX_MANAGER_STATES + manager;
}

class States {
  size = 0;
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly manager: Int32Array;
  readonly cameFrom: Int32Array;
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(capacity: number) {
    this.first = new Int32Array(capacity);
    this.second = new Int32Array(capacity);
    this.manager = new Int32Array(capacity);
    this.cameFrom = new Int32Array(capacity);
    const slots = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.#slots = new Int32Array(slots).fill(-1);
    this.#mask = slots - 1;
  }

  get(state: number): Fleet {
    return { first: this.first[state]!, second: this.second[state]!, manager: this.manager[state]! };
  }

  /** Its number; -1 - SLOT if it is new. */
  find(first: number, second: number, manager: number): number {
    let slot =
      (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(manager, 0xc2b2ae35)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & this.#mask;
    for (;;) {
      const state = this.#slots[slot]!;
      if (state < 0) return -1 - slot;
      if (this.first[state] === first && this.second[state] === second && this.manager[state] === manager) {
        return state;
      }
      slot = (slot + 1) & this.#mask;
    }
  }

  /** `place` is the result of `find`. */
  add(place: number, first: number, second: number, manager: number, cameFrom: number): number {
    const state = this.size;
    this.size += 1;
    this.#slots[-1 - place] = state;
    this.first[state] = first;
    this.second[state] = second;
    this.manager[state] = manager;
    this.cameFrom[state] = cameFrom;
    return state;
  }
}

/** The state after an event, and the names of the two connections in it. */
interface Played {
  readonly fleet: Fleet;
  readonly names: readonly string[];
}

interface Origin {
  readonly names: readonly string[];
  readonly way: readonly string[];
}

function textOf({ index, words }: Label, names: readonly string[]): string {
  return index < 0 ? words : `${names[index]!}: ${words}`;
}

export function explore(options: ExploreOptions): Exploration {
  return new Explorer(options).run();
}

class Explorer {
  readonly #options: ExploreOptions;
  readonly #model: FleetModel;
  readonly #states: States;
  readonly #beganAt: number;
  /** How the initial states were reached, by their number. */
  readonly #origins: Origin[] = [];
  #transitions = 0;
  #depth = 0;
  #expanded = 0;
  #settled = 0;

  constructor(options: ExploreOptions) {
    this.#options = options;
    this.#model = new FleetModel(options);
    this.#states = new States(options.states);
    this.#beganAt = options.now();
  }

  run(): Exploration {
    const finding = this.#visitAll() ?? this.#settleAll() ?? this.#endAll();
    return this.#report(finding);
  }

  #report(finding: Finding | null): Exploration {
    const counted = Math.min(this.#states.size, this.#options.states);
    return {
      states: counted,
      isWhole: this.#expanded === counted && finding === null,
      expanded: this.#expanded,
      transitions: this.#transitions,
      depth: this.#depth,
      settled: this.#settled,
      connectionStates: this.#model.units.size,
      managerStates: this.#model.managers.size,
      machineSteps: this.#model.steps,
      finding,
    };
  }

  #visitAll(): Finding | null {
    const { states: most, limitMs = 0, now, progress } = this.#options;
    const states = this.#states;
    const closed = this.#begin();
    if (closed !== null) return closed;
    const findings: Finding[] = [];
    let levelEnd = states.size;
    for (let from = 0; from < states.size && findings.length === 0; from += 1) {
      if (from === levelEnd) {
        this.#depth += 1;
        levelEnd = states.size;
        progress?.(this.#line());
      }
      if (limitMs > 0 && from % 1_024 === 0 && now() - this.#beganAt > limitMs) break;
      if (states.size >= most) break;
      this.#expanded += 1;
      this.#model.expand(states.get(from), (a, b, m, _, problem, label) => {
        if (findings.length > 0) return;
        this.#transitions += 1;
        if (problem !== null) {
          findings.push(this.#finding(problem, from, label));
          return;
        }
        const found = states.find(a, b, m);
        if (found >= 0 || states.size >= most) return;
        const next = states.add(found, a, b, m, from);
        const wrong = this.#model.problem({ first: a, second: b, manager: m });
        if (wrong !== null) findings.push(this.#finding(wrong, next));
      });
    }
    return findings[0] ?? null;
  }

  /** The first state, and the states to which the ways in lead. */
  #begin(): Finding | null {
    const states = this.#states;
    for (const way of [[], ...(this.#options.ways ?? [])]) {
      let { fleet, names } = { fleet: this.#model.initial(), names: this.#names() };
      for (const [index, words] of way.entries()) {
        const next = this.#play(fleet, names, words);
        if (next === undefined) {
          const state = this.#describe(fleet);
          return { problem: `'${words}' cannot happen`, path: way.slice(0, index), state };
        }
        ({ fleet, names } = next);
      }
      const { first, second, manager } = fleet;
      const place = states.find(first, second, manager);
      if (place >= 0) continue;
      states.add(place, first, second, manager, -1);
      this.#origins.push({ names, way });
    }
    return null;
  }

  #play(from: Fleet, names: readonly string[], words: string): Played | undefined {
    const found: Played[] = [];
    this.#model.expand(from, (first, second, manager, _, __, label, isSwapped) => {
      if (textOf(label, names) !== words) return;
      found.push({ fleet: { first, second, manager }, names: isSwapped ? names.toReversed() : names });
    });
    return found[0];
  }

  #line(): string {
    const seconds = Math.round((this.#options.now() - this.#beganAt) / 1_000);
    const { size } = this.#states;
    return `depth ${this.#depth}: ${size} states, ${this.#transitions} transitions, ${this.#model.units.size} of connections, ${seconds} s`;
  }

  /** Follows the steps that happen by themselves from each state to one that is known to settle. */
  #settleAll(): Finding | null {
    const states = this.#states;
    const good = new Set<number>();
    for (let state = 0; state < states.size; state += 1) {
      const fleet = states.get(state);
      if (!this.#model.isSettled(fleet)) continue;
      good.add(keyOf(fleet));
      this.#settled += 1;
    }
    for (let state = 0; state < states.size; state += 1) {
      if (!this.#endsWell(states.get(state), good)) {
        return this.#finding('no fair run leads to a settled state', state);
      }
    }
    return null;
  }

  #endsWell(start: Fleet, good: Set<number>): boolean {
    const key = keyOf(start);
    if (good.has(key)) return true;
    const parents = new Map([[key, -1]]);
    const stack = [start];
    for (let from = stack.pop(); from !== undefined; from = stack.pop()) {
      const here = keyOf(from);
      const next: Fleet[] = [];
      let end = -1;
      this.#model.expandUnsettled(from, (first, second, manager) => {
        const fleet = { first, second, manager };
        const there = keyOf(fleet);
        if (parents.has(there)) return;
        parents.set(there, here);
        next.push(fleet);
        if (end < 0 && (good.has(there) || this.#model.isSettled(fleet))) end = there;
      });
      for (let on = end; on >= 0; on = parents.get(on)!) good.add(on);
      if (end >= 0) return true;
      stack.push(...next.reverse());
    }
    return false;
  }

  /** Looks for a cycle of steps that happen by themselves, in which a connection never settles. */
  #endAll(): Finding | null {
    const model = this.#model;
    const isDone = new Set<number>();
    const known = model.units.size;
    for (let start = 0; start < known; start += 1) {
      const trail: {
        unit: number;
        words: string;
        next: ReturnType<typeof model.progressAlone>;
        index: number;
      }[] = [];
      const enter = (unit: number, words: string): void => {
        if (isDone.has(unit)) return;
        const next = model.view(unit).isSettled ? [] : model.progressAlone(unit);
        trail.push({ unit, words, next, index: 0 });
      };
      enter(start, '');
      for (let last = trail.at(-1); last !== undefined; last = trail.at(-1)) {
        const step = last.next[last.index];
        last.index += 1;
        if (step === undefined) {
          isDone.add(last.unit);
          trail.pop();
          continue;
        }
        const from = trail.findIndex(({ unit }) => unit === step.to);
        if (from < 0) enter(step.to, step.words);
        else return this.#circle(last.unit, [...trail.slice(from + 1).map(({ words }) => words), step.words]);
      }
    }
    return null;
  }

  #circle(unit: number, path: readonly string[]): Finding {
    const state = describeUnit(this.#model.units.value(unit));
    return { problem: 'a connection may cycle forever and never settle', path, state };
  }

  #finding(problem: string, state: number, last?: Label): Finding {
    const { cameFrom } = this.#states;
    const trail = [state];
    while (cameFrom[trail[0]!]! >= 0) trail.unshift(cameFrom[trail[0]!]!);
    const origin = this.#origins[trail[0]!]!;
    let { names } = origin;
    const steps = trail.slice(1).map((to, step) => {
      const { label, isSwapped } = this.#step(trail[step]!, to);
      const words = textOf(label, names);
      if (isSwapped) names = names.toReversed();
      return words;
    });
    if (last !== undefined) steps.push(textOf(last, names));
    return { problem, path: [...origin.way, ...steps], state: this.#describe(this.#states.get(state)) };
  }

  #names(): readonly string[] {
    const [first, second] = this.#options.kinds;
    return first === second ? ['first', 'second'] : this.#options.kinds;
  }

  #step(from: number, to: number): { readonly label: Label; readonly isSwapped: boolean } {
    let step = { label: { index: -1, words: '' }, isSwapped: false };
    this.#model.expand(this.#states.get(from), (a, b, m, _, __, label, isSwapped) => {
      if (step.label.words === '' && this.#states.find(a, b, m) === to) step = { label, isSwapped };
    });
    return step;
  }

  #describe({ first, second, manager }: Fleet): string {
    const units = [first, second].filter((unit) => unit >= 0).map((unit) => this.#model.units.value(unit));
    return [...units.map(describeUnit), describeManager(this.#model.managers.value(manager))].join('\n');
  }
}
