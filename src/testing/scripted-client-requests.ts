/** The requests of a scripted server to its client. Each settles once: with its answer, or at the end of the session. */
import type { JSONRPCMessage } from '../mcp/messages.js';
import type { Params } from './server-script.js';

interface Asked {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class ClientRequests {
  readonly #send: (message: JSONRPCMessage) => void;
  readonly #asked = new Map<string, Asked>();
  #count = 0;

  constructor(send: (message: JSONRPCMessage) => void) {
    this.#send = send;
  }

  ask(method: string, params: Params): Promise<unknown> {
    this.#count += 1;
    const id = `scripted-${this.#count}`;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#send({ jsonrpc: '2.0', id, method, params });
    });
  }

  settle(answer: JSONRPCMessage): void {
    const id = 'id' in answer ? String(answer.id) : '';
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if ('result' in answer) asked?.resolve(answer.result);
    else if ('error' in answer) asked?.reject(new Error(`The client answered: ${answer.error.message}`));
  }

  giveUp(): void {
    for (const { reject } of this.#asked.values())
      reject(new Error('The session ended before the client answered.'));
    this.#asked.clear();
  }
}
