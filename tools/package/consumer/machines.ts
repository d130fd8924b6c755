import { connectionMachine, managerMachine } from 'mcp-troupe/machines';
import { fromConnection, fromTroupe } from 'mcp-troupe/xstate';
import { createActor, fromPromise, setup } from 'xstate';

export const connection = connectionMachine.provide({
  actors: { authorize: fromPromise(async () => ({ at: 1, startedAt: 0 })) },
});
export const manager = managerMachine.provide({});
export const host = setup({
  actors: { troupe: fromTroupe({ servers: {} }), one: fromConnection('a', { servers: {} }) },
}).createMachine({ invoke: [{ src: 'troupe' }, { src: 'one' }] });
export const actor = createActor(host);
