/** An in-process server, for `{ type: 'in-process', server }`. */
import { serve, WELL } from './serve.mjs';

export class InProcessServer {
  mood = WELL;
  #journal;
  #sessions = new Set();
  #timers = new Set();

  constructor(journal) {
    this.#journal = journal;
  }

  async connect(transport) {
    if (this.mood.name === 'refuses') throw new Error('this server refuses to start');
    if (this.mood.name === 'stuck') await new Promise(() => {});
    this.#sessions.add(transport);
    transport.onclose = () => this.#sessions.delete(transport);
    transport.onmessage = (message) => this.#hear(message, transport);
    await transport.start();
  }

  /** Ends every session. */
  cut() {
    for (const transport of this.#sessions) void transport.close();
  }

  /** Notifies its clients that its tools have changed. */
  sendListChanged() {
    const message = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    for (const transport of this.#sessions) void transport.send(message).catch(() => {});
  }

  /** Number of sessions that were never closed. */
  get sessions() {
    return this.#sessions.size;
  }

  /** Cancels its pending work. */
  end() {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #hear(message, transport) {
    const { mood } = this;
    if (mood.name === 'throws') throw new Error('this server throws');
    serve(message, {
      mood,
      journal: this.#journal,
      reply: (answer) => void transport.send(answer).catch(() => {}),
      cut: () => void transport.close(),
      later: (fn, ms) => this.#later(fn, ms),
    });
  }

  #later(fn, ms) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      fn();
    }, ms);
    this.#timers.add(timer);
  }
}
