/**
 * Replays a log without actors: every machine follows its own part of the log, one pure transition after the other. It
 * can begin at any snapshot, so any moment of a log is reached from the snapshot before it. Runs in a browser.
 *
 * P1. Events between machines are taken from the log, not computed again: a machine that diverges does not affect the
 *     others.
 * P2. No log makes it throw: an entry that makes no sense is a misfit.
 */
import type {
  ConnectionContext,
  ConnectionEmitted,
  ConnectionInput,
} from '../../../machines/connection/connection.events.js';
import { DEFAULT_POLICY } from '../../../machines/policy/policy.js';
import { isStale } from '../../actor-system/event-filter.js';
import { detailsAfter, NO_DETAILS } from '../../lifecycle/status-details.js';
import {
  connectionName,
  isMachineAddress,
  MANAGER,
  rootId,
  rootKind,
} from '../../actor-system/actor-path.js';
import {
  type CauseEntry,
  type Delivery,
  type LogEntry,
  type SnapshotEntry,
  fromLogged,
} from '../format/entry.js';
import { CURRENT_MACHINES, type ReplayMachines } from './replay-machines.js';
import { FoldedActor, foldedChart, type FoldedChart, type FoldedState, nothing } from './folded-actor.js';

/** An entry of the log that the fold cannot follow. */
export interface Misfit {
  readonly entry: LogEntry;
  /** Address of the actor. */
  readonly actor: string;
  readonly why: string;
}

/** The charts that machines are folded by. */
export interface FoldCharts {
  readonly manager: FoldedChart;
  readonly connection: FoldedChart;
  readonly roots: ReadonlyMap<string, FoldedChart>;
}

/** The fold keeps the manager's children itself; the manager spawns a stand-in. */
export function foldCharts({ manager, connection, roots }: ReplayMachines): FoldCharts {
  return {
    manager: foldedChart(manager.provide({ actors: { connection: nothing as never } })),
    connection: foldedChart(connection, {
      isRefused: (context, event) => isStale(context as unknown as ConnectionContext, event),
      summarize: (details = NO_DETAILS, emitted) => detailsAfter(details, emitted as ConnectionEmitted),
    }),
    roots: new Map(Object.entries(roots).map(([kind, machine]) => [kind, foldedChart(machine)])),
  };
}

const CURRENT = foldCharts(CURRENT_MACHINES);

export class Fold {
  readonly #actors = new Map<string, FoldedActor>();
  readonly #misfit: (misfit: Misfit) => void;
  readonly #charts: FoldCharts;

  /** `misfit` is called for every entry that cannot be followed. */
  constructor(misfit: (misfit: Misfit) => void = () => {}, charts: FoldCharts = CURRENT) {
    this.#misfit = misfit;
    this.#charts = charts;
  }

  /** Addresses of all machines, past and present, in the order of their appearance. */
  get actors(): Iterable<string> {
    return this.#actors.keys();
  }

  /** The state of that machine; undefined if the log has not mentioned it. */
  stateOf(address: string): FoldedState | undefined {
    return this.#actors.get(address)?.folded;
  }

  /** Whether the chart of that machine takes events of a type in any of its states. */
  knows(address: string, type: string): boolean {
    return this.#chartAt(address)?.steps.knows(type) === true;
  }

  /** Applies one entry. */
  take(entry: LogEntry): void {
    if (entry.kind === 'snapshot') this.#resume(entry);
    else if (entry.kind !== 'note') this.#deliverAll(entry);
  }

  #deliverAll(entry: CauseEntry): void {
    this.#deliver(entry, entry);
    for (const delivery of entry.derived ?? []) this.#deliver(entry, delivery);
  }

  #deliver(entry: CauseEntry, { to, from, event }: Delivery): void {
    // The input of an effect, which is not folded, may have caused the error.
    if (from !== undefined && event.type.startsWith('xstate.error.actor.')) this.#actors.get(from)?.die();
    const known = this.#actors.get(to);
    if (event.type === 'xstate.init') {
      if (known === undefined) this.#begin(entry, to, event['input']);
      return;
    }
    if (known === undefined) {
      this.#misfit({ entry, actor: to, why: 'receives an event and does not exist' });
      return;
    }
    known.send(fromLogged(event));
  }

  #begin(entry: LogEntry, address: string, input: unknown): void {
    const chart = isMachineAddress(address) ? this.#chartAt(address) : undefined;
    if (chart === undefined || address === MANAGER) {
      this.#misfit({ entry, actor: address, why: 'begins and is not a known machine' });
      return;
    }
    const id = connectionName(address) ?? rootId(address) ?? '';
    const known = chart === this.#charts.connection ? completed(input) : input;
    this.#actors.set(address, FoldedActor.begin(chart, id, known));
  }

  #resume(entry: SnapshotEntry): void {
    const { to } = entry;
    if (!isMachineAddress(to)) return;
    const chart = this.#chartAt(to);
    if (chart === undefined) {
      this.#misfit({ entry, actor: to, why: 'is of an unknown kind' });
      return;
    }
    try {
      this.#actors.set(to, FoldedActor.resume(chart, entry));
    } catch {
      this.#misfit({ entry, actor: to, why: 'is in a state that its chart does not have' });
    }
  }

  /** The chart of the machine at that address; undefined for an auxiliary machine of an unknown kind. */
  #chartAt(address: string): FoldedChart | undefined {
    const { manager, connection, roots } = this.#charts;
    if (address === MANAGER) return manager;
    const id = rootId(address);
    return id === undefined ? connection : roots.get(rootKind(id));
  }
}

/** The input of a connection, with defaults for fields that earlier versions did not have. */
function completed(input: unknown): unknown {
  const { policy } = (input ?? {}) as Partial<ConnectionInput>;
  return {
    crash: null,
    isAttempted: false,
    ...(input as object),
    policy: { ...DEFAULT_POLICY, ...policy },
  };
}
