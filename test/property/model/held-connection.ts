/** Applies the events of the model to a real connection, and checks the invariants after each. */
import { expect } from 'vitest';
import type { AnyStateNode, EventObject, StateValue } from 'xstate';
import {
  type ConnectionCommand,
  type ConnectionFact,
  CONNECTION_COMMANDS,
} from '../../../machines/connection/connection.events.js';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import type { Failure } from '../../../machines/policy/failure.js';
import { MODEL_START } from '../../../src/testing/connection-model.js';
import type { EdgeDriver } from '../../../src/testing/edge-paths.js';
import type { ConnectionDriver } from '../../support/connection-driver.js';
import type { Slot, Whose } from '../../support/held-effects.js';
import { expectInvariants, observe, type Observed } from './invariants.js';

interface HeldSlot {
  readonly slot: Slot;
  readonly whose: Whose;
}

/** The slots, by the ids of their invocations. */
const SLOTS: ReadonlyMap<string, HeldSlot> = new Map(invokesOf(connectionMachine.root));

function slotNameOf({ id, src }: { readonly id: string; readonly src: unknown }): string {
  return typeof src === 'string' ? src : id;
}

function invokesOf(node: AnyStateNode): [string, HeldSlot][] {
  const whose = node.path.includes('succession') ? 'successor' : 'current';
  return [
    ...node.invoke.map((each): [string, HeldSlot] => [each.id, { slot: slotNameOf(each) as Slot, whose }]),
    ...Object.values(node.states).flatMap(invokesOf),
  ];
}

export class HeldConnection implements EdgeDriver {
  readonly #driver: ConnectionDriver;
  readonly #observed: Observed;

  constructor(driver: ConnectionDriver) {
    this.#driver = driver;
    this.#observed = observe(driver);
  }

  state(): StateValue {
    return this.#driver.snapshot.value;
  }

  async perform(event: EventObject): Promise<void> {
    const before = this.#driver.snapshot;
    const isObeyed = await this.#happen(event);
    if (!isObeyed) expect(this.#driver.snapshot).toBe(before);
    const invoked = this.#driver.snapshot._nodes.flatMap((node) => node.invoke.map(slotNameOf));
    expect(this.#driver.running()).toEqual(invoked.toSorted());
    expectInvariants(this.#observed);
  }

  /** False if it was rejected or ignored. */
  async #happen(event: EventObject): Promise<boolean> {
    const { type } = event;
    const driver = this.#driver;
    if (type.startsWith('xstate.done.actor.')) {
      const { slot, whose } = slotOf(type);
      await driver.settle(slot, withoutTimes((event as unknown as { output: object }).output), whose);
      return true;
    }
    if (type.startsWith('xstate.error.actor.')) {
      const { error } = event as unknown as { error: Failure };
      const { slot, whose } = slotOf(type);
      await driver.fail(slot, { ...error, at: driver.clock.now() }, {}, whose);
      return true;
    }
    if (type.startsWith('xstate.after.')) {
      await driver.advance(Math.max(...driver.clock.pending));
      return true;
    }
    const isCommand = (CONNECTION_COMMANDS as readonly string[]).includes(type);
    const answer = isCommand
      ? await driver.command(event as ConnectionCommand)
      : await driver.fact(this.#now(event as ConnectionFact));
    return answer === 'accepted';
  }

  /** The time of the model stands still; this converts it to the time of the connection. */
  #now(fact: ConnectionFact): ConnectionFact {
    return 'at' in fact ? { ...fact, at: this.#driver.clock.now() + fact.at - MODEL_START } : fact;
  }
}

function slotOf(type: string): HeldSlot {
  return SLOTS.get(type.split('.').slice(3).join('.'))!;
}

function withoutTimes(output: object): object {
  return Object.fromEntries(Object.entries(output).filter(([key]) => key !== 'at' && key !== 'startedAt'));
}
