import { connectionMachine, managerMachine } from 'mcp-troupe/machines';
import { fromPromise } from 'xstate';

export const connection = connectionMachine.provide({
  actors: { authorize: fromPromise(async () => ({ at: 1, startedAt: 0 })) },
});
export const manager = managerMachine.provide({});
