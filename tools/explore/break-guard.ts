/** Puts a deliberate mistake into a machine, to check that the exploration finds it. */
import type { AnyStateMachine } from 'xstate';
import { connectionMachine, managerMachine } from './world.js';

const VALUES: readonly (string | undefined)[] = [undefined, 'true', 'false'];

type Guard = (args: unknown, params: unknown) => boolean;

/** `GUARD` is negated; `GUARD=true` and `GUARD=false` replace it. Throws for anything else. */
export function withBrokenGuard(mistake: string): {
  connection?: AnyStateMachine;
  manager?: AnyStateMachine;
} {
  const [name = '', ...values] = mistake.split('=');
  const [value] = values;
  if (values.length > 1 || !VALUES.includes(value)) {
    throw new Error(`--break ${mistake}: it must be GUARD, GUARD=true or GUARD=false.`);
  }
  const connection = broken(connectionMachine, name, value);
  if (connection !== undefined) return { connection };
  const manager = broken(managerMachine, name, value);
  if (manager !== undefined) return { manager };
  throw new Error(`--break ${mistake}: there is no guard '${name}'.`);
}

function broken(
  machine: AnyStateMachine,
  name: string,
  value: string | undefined,
): AnyStateMachine | undefined {
  const guards = machine.implementations.guards as Record<string, Guard | undefined>;
  const guard = guards[name];
  if (guard === undefined) return undefined;
  const mistake: Guard = (args, params) => (value === undefined ? !guard(args, params) : value === 'true');
  return machine.provide({ guards: { [name]: mistake } } as Parameters<AnyStateMachine['provide']>[0]);
}
