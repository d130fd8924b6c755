/** What enters and leaves the manager machine: input, context, events, tags, emitted events. All of it is plain JSON. */
import type { Crash } from '../connection/connection.crash.js';
import type { ConnectionInput, ConnectionOutput, ConnectionReport } from '../connection/connection.events.js';
import type { Failure } from '../policy/failure.js';
import type { Waiting } from '../policy/start-queue.js';

/** Input of the manager chart. */
export interface ManagerInput {
  /** Maximum number of stdio servers that start at the same time. At least 1. */
  readonly startSlots: number;
  /** Milliseconds after which a start that is still going on releases its slot. */
  readonly slotHoldMs: number;
  /** Milliseconds after which `starting` ends, whatever the children do. */
  readonly startGateMs: number;
  /** Automatic retries of remote servers that may begin at once, over all connections. At least 1. */
  readonly retryBurst: number;
  /** Milliseconds until one more becomes available. */
  readonly retryEveryMs: number;
  /**
   * Whether each of these retries also needs a share of a budget that all hosts of a fleet share. The runtime asks for it while
   * a connection waits with `asksFleet`, and answers with `retry.allowed`. Default false.
   */
  readonly sharesRetries?: boolean;
}

/** Context of the manager chart. Plain JSON. */
export interface ManagerContext extends ManagerInput {
  /** Names of the connections that hold a start slot, oldest first. */
  readonly holders: readonly string[];
  /** Connections that wait for a start slot or a retry from the budget, first come, first served. */
  readonly waiting: readonly Waiting[];
  /** Remaining retry budget. */
  readonly retries: number;
  /** Number of connections in the first start with an unfinished first attempt. */
  readonly unsettled: number;
  /** Number of living children. */
  readonly alive: number;
}

/** A connection to spawn, and the source that names it. */
export interface ChildSpec {
  /** The file that names the server, or `options`. */
  readonly source: string;
  /** Input of the connection chart, without the fields that the manager adds. */
  readonly input: Omit<ConnectionInput, 'online' | 'crash' | 'isAttempted'>;
}

/** Commands come from the host. Each is accepted or rejected, never lost. */
export type ManagerCommand =
  /** The host has requested the start; the sources are being read. */
  | { readonly type: 'manager.open' }
  /** These connections are started for the first time. */
  | {
      readonly type: 'manager.start';
      /** The connections, in the order of the configuration. */
      readonly specs: readonly ChildSpec[];
    }
  /** One more connection, or the next incarnation of one that has ended. */
  | {
      readonly type: 'manager.add';
      /** The connection. */
      readonly spec: ChildSpec;
    }
  /** Everything ends. A second one makes every connection skip a step of its shutdown. */
  | { readonly type: 'manager.stop' }
  /** The network has become usable or unusable. */
  | {
      readonly type: 'network.changed';
      /** Whether it can be used. */
      readonly online: boolean;
      /** When it happened, milliseconds since the epoch. */
      readonly at: number;
    };

/** Facts come from the children, the computer and the manager's own timers. */
export type ManagerFact =
  /** The machine has slept, or its clock was set forward. */
  | { readonly type: 'clock.jumped' }
  /** No more than this many cores are busy although servers wait for a slot. */
  | {
      readonly type: 'cores.idle';
      /** How many cores are busy. */
      readonly busyCores: number;
    }
  /** The budget of the fleet allows the retry of a connection that asks it. */
  | {
      readonly type: 'retry.allowed';
      /** Name of the connection. */
      readonly name: string;
    }
  /** A start has held its slot for `slotHoldMs`. */
  | {
      readonly type: 'slot.expired';
      /** Name of the connection. */
      readonly name: string;
    }
  | ConnectionReport;

/** Every event that the manager chart accepts. */
export type ManagerEvent = ManagerCommand | ManagerFact;

/** Every command, in the order of a life. */
export const MANAGER_COMMANDS = [
  'manager.open',
  'manager.start',
  'manager.add',
  'network.changed',
  'manager.stop',
] as const satisfies readonly ManagerCommand['type'][];

/** The phases of a troupe, in order: the sources are read in `reading`, first attempts run in `starting`. */
export const TROUPE_PHASES = ['idle', 'reading', 'starting', 'running', 'closing', 'closed'] as const;

/** One of `TROUPE_PHASES`. */
export type TroupePhase = (typeof TROUPE_PHASES)[number];

/** Events that the manager chart emits to the runtime. */
export type ManagerEmitted =
  /** The connections were spawned. */
  | {
      readonly type: 'started';
      /** How many. */
      readonly connections: number;
    }
  /** Every connection has ended. */
  | { readonly type: 'stopped' }
  /** A connection was spawned. */
  | {
      readonly type: 'added';
      /** Name of the connection. */
      readonly name: string;
      /** The file that names the server, or `options`. */
      readonly source: string;
    }
  /** A connection has ended. */
  | {
      readonly type: 'ended';
      /** Name of the connection. */
      readonly name: string;
      /** The output of its chart. */
      readonly output: ConnectionOutput;
    }
  /** An actor died of an error of the runtime. If it is replaced, the next incarnation fails with the cause. */
  | {
      readonly type: 'crashed';
      /** Name of the connection. */
      readonly name: string;
      /** The error, as a failure with a code. */
      readonly failure: Failure;
      /** Whether another incarnation follows. */
      readonly isReplaced: boolean;
    };

/** How a child died. */
export interface Death {
  /** Name of the connection. */
  readonly name: string;
  /** Undefined for an error that carries no record. */
  readonly crash: Crash | undefined;
  /** The error, as a failure with a code. */
  readonly failure: Failure;
}

/**
 * - `idle`: the start has not been requested.
 * - `unstarted`: no connection has been started.
 * - `settled`: the start no longer waits for first attempts.
 * - `closed`: nothing more is started.
 * - `ended`: no connection is left.
 */
export type ManagerTag = 'idle' | 'unstarted' | 'settled' | 'closed' | 'ended';
