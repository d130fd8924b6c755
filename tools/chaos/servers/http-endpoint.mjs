/**
 * One streamable HTTP server with sessions, on its own port. It answers with JSON or, if `streams` is set, with event
 * streams; then it also offers a stream for its own messages.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { serve, WELL } from './serve.mjs';

const HOST = '127.0.0.1';
/** Below the ephemeral ports, so that no client takes the port while the server does not listen. */
const FIRST_PORT = 15_000;
const PORT_BUSY_MS = 100;

export class HttpEndpoint {
  mood = WELL;
  #journal;
  #streams;
  #sessions = new Set();
  #lastSession = 0;
  #server;
  #listening = Promise.resolve();
  #port = 0;

  constructor(journal, streams) {
    this.#journal = journal;
    this.#streams = streams;
  }

  get port() {
    return this.#port;
  }

  /**
   * Listens on the port. If it is in use, tries the next one or, with a `step` of 0, the same one until it is free. Does
   * nothing if it already listens.
   */
  listen(port, step) {
    if (this.#server === undefined) this.#listening = this.#listen(port, step);
    return this.#listening;
  }

  async #listen(port, step) {
    const server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    this.#server = server;
    for (let candidate = port; this.#server === server; candidate += step) {
      try {
        server.listen(candidate, HOST);
        await once(server, 'listening');
        this.#port = candidate;
        break;
      } catch (error) {
        if (error.code !== 'EADDRINUSE') throw error;
      }
      if (step === 0) await pause(PORT_BUSY_MS);
    }
    if (this.#server !== server) server.close();
  }

  /** Stops listening and closes every connection. A server that is closed before it listens never reports that it does. */
  async refuse() {
    const server = this.#server;
    this.#server = undefined;
    await this.#listening;
    server?.close();
    server?.closeAllConnections();
  }

  cut() {
    this.#server?.closeAllConnections();
  }

  /** Forgets all sessions. */
  forget() {
    this.#sessions.clear();
  }

  async #handle(request, response) {
    const body = await readBody(request);
    const session = request.headers['mcp-session-id'];
    const message = request.method === 'POST' ? JSON.parse(body) : undefined;
    if (this.mood.name === 'refuses') return void response.writeHead(503).end('this server refuses');
    if (message?.method === 'initialize') return this.#answer(message, response, this.#newSession());
    if (!this.#sessions.has(session)) return void response.writeHead(404).end('unknown session');
    if (message !== undefined) return this.#answer(message, response, {});
    if (request.method === 'DELETE') {
      this.#sessions.delete(session);
      return void response.writeHead(200).end();
    }
    if (!this.#streams) return void response.writeHead(405).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }

  #newSession() {
    this.#lastSession += 1;
    const session = `${process.pid}-${this.#lastSession}`;
    this.#sessions.add(session);
    return { 'mcp-session-id': session };
  }

  #answer(message, response, headers) {
    if (message.id === undefined) return void response.writeHead(202).end();
    const type = this.#streams ? 'text/event-stream' : 'application/json';
    serve(message, {
      mood: this.mood,
      journal: this.#journal,
      reply: (answer) => {
        const text = JSON.stringify(answer);
        response.writeHead(200, { ...headers, 'content-type': type });
        response.end(this.#streams ? `data: ${text}\n\n` : text);
      },
      cut: () => response.destroy(),
      later: setTimeout,
    });
  }
}

/** The first port of the search. It differs between processes, so that two runs rarely collide. */
export function firstPort() {
  return FIRST_PORT + (process.pid % 1_000) * 16;
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
