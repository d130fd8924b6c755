/**
 * The clients that call: `call(id, server, ms)` never rejects, and resolves with the outcome. `lost` counts sessions that a client had to
 * begin anew.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { outcomeOfError, outcomeOfResult } from './outcome.mjs';

const AGAIN_MS = 100;
const CONNECT_LIMIT_MS = 5_000;

const requestOf = (id, server, ms) => ({ name: `mcp__${server}__slow`, arguments: { id, ms } });

async function outcomeOf(id, answer) {
  try {
    return outcomeOfResult(await answer, id);
  } catch (error) {
    return outcomeOfError(error);
  }
}

/** SDK v1: has a session, and begins a new one if that is over. */
export class SessionClient {
  lost = 0;
  #url;
  #limitMs;
  #beginning;
  #client;
  #all = [];
  #isOver = false;

  constructor(url, limitMs) {
    this.#url = url;
    this.#limitMs = limitMs;
    this.#beginning = this.#begin();
  }

  /** Resolves when there is a session. */
  ready() {
    return this.#beginning;
  }

  async call(id, server, ms) {
    const client = this.#client;
    const options = { timeout: this.#limitMs };
    const answered = await outcomeOf(id, client.callTool(requestOf(id, server, ms), undefined, options));
    // Another call may have noticed before.
    if (answered.isSessionOver === true && client === this.#client) {
      this.lost += 1;
      this.#client = undefined;
      this.#beginning = this.#begin();
    }
    return answered;
  }

  async close() {
    this.#isOver = true;
    await Promise.all(this.#all.map((client) => client.close()));
  }

  async #begin() {
    while (this.#client === undefined && !this.#isOver) {
      const client = new OldClient({ name: 'v1', version: '1' });
      this.#all.push(client);
      try {
        await client.connect(new OldHttp(this.#url), { timeout: CONNECT_LIMIT_MS });
        this.#client = client;
      } catch {
        await pause(AGAIN_MS);
      }
    }
  }
}

/** SDK v2, with the revision that has no sessions. */
export async function openStatelessClient(url, limitMs) {
  const client = new NewClient(
    { name: 'v2', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new NewHttp(url));
  return {
    lost: 0,
    ready: async () => {},
    call: (id, server, ms) => outcomeOf(id, client.callTool(requestOf(id, server, ms), { timeout: limitMs })),
    close: () => client.close(),
  };
}

/** The program of a host calls by the library that it embeds. */
export const embeddedClient = (host) => ({
  lost: 0,
  ready: async () => {},
  call: (id, server, ms) => host.call(id, server, ms),
  close: async () => {},
});
