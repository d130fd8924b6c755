/**
 * The manager and its two connections as one transition system over three small numbers.
 *
 * F1. The step of one actor at one event is computed once and cached: the parts repeat, their combinations do not.
 * F2. Events are queued as in XState's mailboxes: an actor that is processing receives the next event afterwards.
 * F3. The two connections have no names: states that differ only in their order are one state.
 *
 * Over 300 lines because the steps of both kinds of actor read and write the same packed state.
 */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import type { ConnectionContext, TransportKind } from '../../machines/connection/connection.events.js';
import type { ManagerContext } from '../../machines/manager/manager.events.js';
import { Interned } from './interned.js';
import { PureActor, type Place, type Step } from './pure-actor.js';
import {
  afterTimer,
  canonicalManager,
  canonicalUnit,
  connectionMachine,
  firstInput,
  fleetProblem,
  happeningsTo,
  isManagerSettled,
  keyOfUnit,
  MANAGER_INPUT,
  managerHappenings,
  managerMachine,
  managerProblem,
  revival,
  sessionsAfter,
  stepProblem,
  unitProblem,
  viewOf,
  type Happening,
  type Unit,
  type UnitView,
} from './world.js';

type Manager = Place<ManagerContext>;

/** The reaction of one connection to one event. */
interface Reaction {
  readonly to: number;
  /** Events to the manager, in order. */
  readonly sent: readonly number[];
  readonly problem: string | null;
}

interface UnitMove extends Reaction {
  /** The labels for each of the two connections. */
  readonly labels: readonly [Label, Label];
  readonly isProgress: boolean;
  readonly isBadLuck: boolean;
}

interface ManagerMove {
  readonly to: number;
  /** The receiving connection, and the event. */
  readonly sent: readonly (readonly [index: number, event: number])[];
  readonly spawned: readonly (readonly [index: number, unit: number, sent: readonly number[]])[];
  readonly problem: string | null;
}

/** A state of all three actors. */
export interface Fleet {
  readonly first: number;
  readonly second: number;
  readonly manager: number;
}

export type Visit = (
  first: number,
  second: number,
  manager: number,
  isProgress: boolean,
  problem: string | null,
  label: Label,
  /** Whether the two connections have changed places. */
  isSwapped: boolean,
) => void;

/** An event, and the index of the connection; -1 for the manager. */
export interface Label {
  readonly index: number;
  readonly words: string;
}

export interface FleetOptions {
  readonly kinds: readonly TransportKind[];
  readonly connection?: AnyStateMachine;
  readonly manager?: AnyStateMachine;
}

const NAMES = ['a', 'b'] as const;

export class FleetModel {
  readonly units = new Interned<Unit>(keyOfUnit);
  readonly managers = new Interned<Manager>();
  readonly #events = new Interned<AnyEventObject>();
  readonly #kinds: readonly TransportKind[];
  readonly #unitActor: PureActor<ConnectionContext>;
  readonly #managerActor: PureActor<ManagerContext>;
  readonly #views: UnitView[] = [];
  readonly #viewCodes = new Interned<UnitView>();
  readonly #codes: number[] = [];
  readonly #moves: (readonly UnitMove[])[] = [];
  readonly #progress: (readonly UnitMove[])[] = [];
  readonly #received = new Map<number, Reaction>();
  readonly #managerMoves = new Map<string, ManagerMove>();
  readonly #happenings: (readonly Happening[])[] = [];
  readonly #swapped: number[] = [];
  readonly #named: [number[], number[]] = [[], []];
  readonly #problems = new Map<string, string | null>();
  /** Number of computed steps of a machine. */
  steps = 0;

  constructor({ kinds, connection = connectionMachine, manager = managerMachine }: FleetOptions) {
    this.#kinds = kinds;
    this.#managerActor = new PureActor(manager, { id: 'manager', input: MANAGER_INPUT });
    this.#unitActor = new PureActor(connection, {
      id: '*',
      input: firstInput('stdio'),
      parent: this.#managerActor.ref,
    });
  }

  initial(): Fleet {
    const manager = this.managers.number(
      canonicalManager(placeOf(this.#managerActor.initial(MANAGER_INPUT))),
    );
    const unborn = this.#kinds.map((kind) => this.units.number(this.#unborn(kind)));
    return { first: unborn[0]!, second: unborn[1] ?? -1, manager };
  }

  #unborn(kind: TransportKind): Unit {
    return newUnit(this.#unitActor.initial(firstInput(kind)), 'unborn');
  }

  view(unit: number): UnitView {
    return (this.#views[unit] ??= viewOf(this.units.value(unit)));
  }

  isSettled({ first, second, manager }: Fleet): boolean {
    return (
      isManagerSettled(this.managers.value(manager)) &&
      this.isUnitSettled(first) &&
      (second < 0 || this.isUnitSettled(second))
    );
  }

  isUnitSettled(unit: number): boolean {
    const { isSettled, hasCall } = this.view(unit);
    return isSettled && !hasCall;
  }

  /** The reason why a state is forbidden. */
  problem({ first, second, manager }: Fleet): string | null {
    const key = `${manager} ${this.#code(first)} ${second < 0 ? '' : this.#code(second)}`;
    let found = this.#problems.get(key);
    if (found === undefined) {
      const units = [first, second].filter((unit) => unit >= 0);
      const views = new Map(units.map((unit, index) => [NAMES[index]!, this.view(unit)]));
      found = fleetProblem(this.managers.value(manager), views);
      this.#problems.set(key, found);
    }
    return found;
  }

  /** Every step from a state. */
  expand(from: Fleet, visit: Visit): void {
    const { first, second } = from;
    this.#expandUnit(from, 0, this.#movesOf(first), visit);
    this.#revive(from, 0, first, visit);
    if (second >= 0) {
      this.#expandUnit(from, 1, this.#movesOf(second), visit);
      this.#revive(from, 1, second, visit);
    }
    this.#expandManager(from, visit);
  }

  /** Steps that happen by themselves, of connections that are not settled. */
  expandUnsettled(from: Fleet, visit: Visit): void {
    const { first, second } = from;
    if (!this.isUnitSettled(first)) this.#expandUnit(from, 0, this.#progressOf(first), visit);
    if (second >= 0 && !this.isUnitSettled(second)) {
      this.#expandUnit(from, 1, this.#progressOf(second), visit);
    }
    this.#expandManager(from, (a, b, m, isProgress, ...more) => {
      if (isProgress) visit(a, b, m, isProgress, ...more);
    });
  }

  /** Steps of a connection that may repeat by themselves forever, whatever the others do. */
  progressAlone(unit: number): readonly { readonly to: number; readonly words: string }[] {
    const alone = this.#progressOf(unit)
      .filter(({ isBadLuck }) => !isBadLuck)
      .map(({ to, labels }) => ({ to, words: labels[0].words }));
    if (!this.view(unit).isInQueue) return alone;
    const { to } = this.receive(unit, this.#events.number({ type: 'slot.granted' }));
    return [...alone, { to, words: 'slot.granted' }];
  }

  #expandManager(from: Fleet, visit: Visit): void {
    const { manager } = from;
    const happenings = (this.#happenings[manager] ??= managerHappenings(
      this.managers.value(manager),
      this.#kinds.map((kind, index) => [NAMES[index]!, kind] as const),
    ));
    for (const { label, isProgress, event } of happenings) {
      const words = { index: -1, words: label };
      this.#run(from, (run) => run.sendToManager(this.#events.number(event!)), words, isProgress, visit);
    }
  }

  #expandUnit(from: Fleet, index: 0 | 1, moves: readonly UnitMove[], visit: Visit): void {
    const { first, second, manager } = from;
    for (const move of moves) {
      const { to, sent, isProgress, problem } = move;
      const label = move.labels[index];
      if (sent.length > 0) this.#run(from, (run) => run.apply(index, move), label, isProgress, visit);
      else if (index === 0) this.#visit(to, second, manager, isProgress, problem, label, visit);
      else this.#visit(first, to, manager, isProgress, problem, label, visit);
    }
  }

  /** Creates the next incarnation of a connection that has ended. */
  #revive(from: Fleet, index: 0 | 1, unit: number, visit: Visit): void {
    const { fate } = this.units.value(unit);
    if (fate !== 'ended') return;
    const event = revival(this.managers.value(from.manager), NAMES[index], this.units.value(unit));
    if (event === undefined) return;
    const label = { index, words: 'begins anew' };
    this.#run(from, (run) => run.sendToManager(this.#events.number(event)), label, false, visit);
  }

  #run(from: Fleet, begin: (run: Run) => void, label: Label, isProgress: boolean, visit: Visit): void {
    const run = new Run(this, from);
    begin(run);
    const { first, second, manager, problem } = run;
    if (first === from.first && second === from.second && manager === from.manager && problem === null)
      return;
    this.#visit(first, second, manager, isProgress, problem, label, visit);
  }

  #visit(
    first: number,
    second: number,
    manager: number,
    isProgress: boolean,
    problem: string | null,
    label: Label,
    visit: Visit,
  ): void {
    if (second >= 0 && first > second) {
      visit(second, first, this.#swap(manager), isProgress, problem, label, true);
    } else visit(first, second, manager, isProgress, problem, label, false);
  }

  #swap(manager: number): number {
    const known = this.#swapped[manager];
    if (known !== undefined) return known;
    const { value, context, timers } = this.managers.value(manager);
    const other = (name: string): string => NAMES[name === NAMES[0] ? 1 : 0];
    const swapped = this.managers.number(
      canonicalManager({
        value,
        context: {
          ...context,
          holders: context.holders.map(other),
          waiting: context.waiting.map((claim) => ({ ...claim, name: other(claim.name) })),
        },
        timers: timers.map((id) => id.replace(/^slot\.(.*)$/, (_, name: string) => `slot.${other(name)}`)),
      }),
    );
    this.#swapped[manager] = swapped;
    return swapped;
  }

  /** All events of a connection that change something. */
  #movesOf(unit: number): readonly UnitMove[] {
    return (this.#moves[unit] ??= happeningsTo(this.units.value(unit))
      .map((happening) => this.#moveOf(unit, happening))
      .filter(({ to, sent, problem }) => to !== unit || sent.length > 0 || problem !== null));
  }

  #progressOf(unit: number): readonly UnitMove[] {
    return (this.#progress[unit] ??= this.#movesOf(unit).filter(({ isProgress }) => isProgress));
  }

  #moveOf(
    unit: number,
    { label, isProgress, event, change, report, isBadLuck = false }: Happening,
  ): UnitMove {
    const before = { ...this.units.value(unit), ...change };
    const labels = [
      { index: 0, words: label },
      { index: 1, words: label },
    ] as const;
    if (event === undefined) {
      const after = canonicalUnit(before);
      const sent = report === undefined ? [] : [this.#events.number(report)];
      return {
        labels,
        isProgress,
        isBadLuck,
        to: this.units.number(after),
        sent,
        problem: unitProblem(after),
      };
    }
    return { labels, isProgress, isBadLuck, ...this.#step(before, event) };
  }

  receive(unit: number, event: number): Reaction {
    const key = unit * 4096 + event;
    let move = this.#received.get(key);
    if (move === undefined) {
      const before = this.units.value(unit);
      if (before.fate !== 'alive') throw new Error('An event was sent to a connection that is not alive.');
      move = this.#step(before, this.#events.value(event));
      this.#received.set(key, move);
    }
    return move;
  }

  #step(before: Unit, event: AnyEventObject): Reaction {
    this.steps += 1;
    const step = this.#unitActor.step(before, event);
    const sessions = sessionsAfter(before, step);
    const to = canonicalUnit({
      value: step.value,
      context: step.context,
      timers: step.timers,
      live: sessions.live,
      planned: sessions.planned,
      hasCall: before.hasCall,
      fate: step.status === 'active' ? 'alive' : 'ended',
    });
    const sent: AnyEventObject[] = step.actions.flatMap((action) =>
      action.kind === 'send' ? [action.event] : [],
    );
    if (step.status === 'done') sent.push({ type: 'xstate.done.actor.*', actorId: '*', output: {} });
    return {
      to: this.units.number(to),
      sent: sent.map((each) => this.#events.number(each)),
      problem: step.problem ?? sessions.problem ?? stepProblem(before, step, to),
    };
  }

  /** The event of a connection, under the name by which the manager knows it. */
  named(event: number, index: number): number {
    const known = this.#named[index]![event];
    if (known !== undefined) return known;
    const name = NAMES[index]!;
    const text = JSON.stringify(this.#events.value(event))
      .replaceAll('"*"', `"${name}"`)
      .replace('actor.*', `actor.${name}`);
    return (this.#named[index]![event] = this.#events.number(JSON.parse(text) as AnyEventObject));
  }

  toManager(manager: number, event: number, units: readonly [number, number]): ManagerMove {
    const codes = units.map((unit) => (unit < 0 ? -1 : this.#code(unit)));
    const key = `${manager} ${event} ${codes.join(' ')}`;
    let move = this.#managerMoves.get(key);
    if (move === undefined) {
      move = this.#managerMove(manager, this.#events.value(event), units);
      this.#managerMoves.set(key, move);
    }
    return move;
  }

  #managerMove(manager: number, event: AnyEventObject, units: readonly [number, number]): ManagerMove {
    this.steps += 1;
    const children = units.flatMap((unit, index) => {
      if (unit < 0 || this.units.value(unit).fate === 'unborn') return [];
      const { isAlive } = this.view(unit);
      const id = NAMES[index]!;
      if (!isAlive && event['actorId'] !== id) return [];
      return [{ id, getSnapshot: () => ({ status: isAlive ? 'active' : 'done' }) }];
    });
    const before = afterTimer(this.managers.value(manager), event);
    const step = this.#managerActor.step(before, event, children);
    const index = (name: string): number => NAMES.findIndex((each) => each === name);
    return {
      to: this.managers.number(canonicalManager(placeOf(step))),
      sent: step.actions.flatMap((action) =>
        action.kind === 'send' && index(action.to) >= 0
          ? [[index(action.to), this.#events.number(action.event)] as const]
          : [],
      ),
      spawned: step.actions.flatMap((action) => {
        if (action.kind !== 'start') return [];
        const first = this.#unitActor.initial({ ...(action.input as object), name: '*' });
        const sent = first.actions.flatMap((each) =>
          each.kind === 'send' ? [this.#events.number(each.event)] : [],
        );
        return [[index(action.id), this.units.number(newUnit(first, 'alive')), sent] as const];
      }),
      problem: step.problem ?? (step.status === 'error' ? 'the manager dies' : managerProblem(before, step)),
    };
  }

  #code(unit: number): number {
    return (this.#codes[unit] ??= this.#viewCodes.number(this.view(unit)));
  }
}

function newUnit(step: Step<ConnectionContext>, fate: Unit['fate']): Unit {
  return canonicalUnit({ ...placeOf(step), live: [], planned: null, hasCall: false, fate });
}

function placeOf<Context>({ value, context, timers }: Place<Context> | Step<Context>): Place<Context> {
  return { value, context, timers };
}

/** One event and everything that immediately follows from it. */
class Run {
  first: number;
  second: number;
  manager: number;
  problem: string | null = null;
  readonly #model: FleetModel;
  readonly #busy = [false, false, false];
  readonly #boxes: number[][] = [[], [], []];

  constructor(model: FleetModel, { first, second, manager }: Fleet) {
    this.#model = model;
    this.first = first;
    this.second = second;
    this.manager = manager;
  }

  sendToManager(event: number): void {
    this.#deliver(2, event);
  }

  apply(index: number, { to, sent, problem }: Reaction): void {
    this.#busy[index] = true;
    this.#take(index, to, sent, problem);
    this.#busy[index] = false;
    this.#empty(index);
  }

  #deliver(to: number, event: number): void {
    this.#boxes[to]!.push(event);
    if (this.#busy[to] !== true) this.#empty(to);
  }

  #empty(actor: number): void {
    const box = this.#boxes[actor]!;
    for (let event = box.shift(); event !== undefined; event = box.shift()) {
      this.#busy[actor] = true;
      if (actor === 2) this.#manage(event);
      else this.#hear(actor, event);
      this.#busy[actor] = false;
    }
  }

  #hear(index: number, event: number): void {
    const unit = index === 0 ? this.first : this.second;
    // XState drops events to an actor that has ended.
    if (!this.#model.view(unit).isAlive) return;
    const { to, sent, problem } = this.#model.receive(unit, event);
    this.#take(index, to, sent, problem);
  }

  #take(index: number, to: number, sent: readonly number[], problem: string | null): void {
    this.problem ??= problem;
    if (index === 0) this.first = to;
    else this.second = to;
    for (const event of sent) this.#deliver(2, this.#model.named(event, index));
  }

  #manage(event: number): void {
    const move = this.#model.toManager(this.manager, event, [this.first, this.second]);
    this.problem ??= move.problem;
    this.manager = move.to;
    for (const [index, unit, sent] of move.spawned) {
      // Calls wait for the next incarnation, and the sessions of a crashed one still exist.
      const { hasCall, live } = this.#model.units.value(index === 0 ? this.first : this.second);
      const spawned = this.#model.units.number({ ...this.#model.units.value(unit), hasCall, live });
      this.#take(index, spawned, sent, null);
    }
    for (const [index, sent] of move.sent) this.#deliver(index, sent);
  }
}
