/** The charts of a replay: from this package, or from the host. Pure. */
import type { AnyStateMachine } from 'xstate';
import { ROOT_CHARTS } from '../../../machines/charts.js';
import type { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managed } from '../../../machines/connection/connection.managed.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import type { ConnectionPolicy } from '../../../machines/policy/policy.js';
import { isJsonObject } from '../../json/json-object.js';
import type { LogEntry } from '../format/entry.js';

/**
 * Machines and policies to replay a log with, under the names of `mcp-troupe/machines`: a module built from changed
 * sources fits as it is. Default for each machine: the one of this package.
 */
export interface ReplayAgainst {
  /** Machine of every connection, for instance one with other delays. */
  readonly connectionMachine?: AnyStateMachine;
  /** Machine of the manager. */
  readonly managerMachine?: AnyStateMachine;
  /** Machine that reads the configuration again. */
  readonly configurationMachine?: AnyStateMachine;
  /** Machine of a sign-in. */
  readonly signInMachine?: AnyStateMachine;
  /** Machine of the lease of a server that runs once in the fleet. */
  readonly leaseMachine?: AnyStateMachine;
  /** Fields of the policy of every connection, which replace the recorded ones. */
  readonly policy?: Partial<ConnectionPolicy>;
}

/** The machines of one replay. */
export interface ReplayMachines {
  readonly connection: typeof connectionMachine;
  readonly manager: typeof managerMachine;
  /** The auxiliary machines, by the kind that their ids begin with. */
  readonly roots: Readonly<Record<string, AnyStateMachine>>;
}

export const CURRENT_MACHINES: ReplayMachines = {
  connection: managed(),
  manager: managerMachine,
  roots: ROOT_CHARTS,
};

/** Throws a `TypeError` for what holds neither a machine nor a policy. */
export function machinesOf(against: ReplayAgainst): ReplayMachines {
  const names = [
    'connectionMachine',
    'managerMachine',
    'configurationMachine',
    'signInMachine',
    'leaseMachine',
  ] as const;
  const given = isObject(against) ? names.filter((name) => against[name] !== undefined) : [];
  const isPolicy = isObject(against) && isJsonObject(against.policy);
  if (given.length === 0 && !isPolicy)
    throw new TypeError(
      `'against' needs at least one of ${names.map((name) => `'${name}'`).join(', ')} or 'policy'.`,
    );
  for (const name of given)
    if (typeof against[name]?.provide !== 'function')
      throw new TypeError(`'${name}' is not a machine of XState.`);
  return {
    connection: managed(against.connectionMachine as typeof connectionMachine | undefined),
    manager: (against.managerMachine ?? managerMachine) as typeof managerMachine,
    roots: {
      configuration: against.configurationMachine ?? ROOT_CHARTS.configuration,
      signIn: against.signInMachine ?? ROOT_CHARTS.signIn,
      lease: against.leaseMachine ?? ROOT_CHARTS.lease,
    },
  };
}

/** The same entry with other fields in every policy of a connection. */
export function withPolicy(entry: LogEntry, policy: Partial<ConnectionPolicy>): LogEntry {
  return replaced(entry, policy) as LogEntry;
}

function replaced(value: unknown, policy: Partial<ConnectionPolicy>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, policy));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      name === 'policy' && isJsonObject(item) && 'maxAttempts' in item
        ? { ...item, ...policy }
        : replaced(item, policy),
    ]),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
