/**
 * Whose question is answered by what runs now, followed through everything that it waits for. A call that is made to
 * answer a question would wait for that question's end, which waits for the call: it may not stand still for it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const asker = new AsyncLocalStorage<string>();

/** Runs what answers a question of that server. */
export function answering<T>(server: string, answer: () => T): T {
  return asker.run(server, answer);
}

export function isAnswering(server: string): boolean {
  return asker.getStore() === server;
}
