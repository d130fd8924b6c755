/** A remote server in its own process, which the test controls while it runs. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Replaces the default answer. With `needsToken`, the answer is 401 without a token; with `another`, always. */
export interface RemoteAnswer {
  readonly afterMs?: number;
  readonly silent?: true;
  readonly needsToken?: true | 'another';
  readonly status?: number;
}

export interface RemoteOrder {
  /** Answers from now on, by JSON-RPC method, HTTP method or path. */
  readonly answers?: Readonly<Record<string, RemoteAnswer>>;
  readonly forget?: 'sessions' | 'tokens';
  /** Rejects all connections from now on. */
  readonly isGone?: true;
}

export interface RemoteProgram {
  /** Such as `http://127.0.0.1:1234`. */
  readonly origin: string;
  /** Resolves when the server has applied the order. */
  send(order: RemoteOrder): Promise<void>;
  /** Resolves when the process has ended. */
  close(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('remote-server.mjs', import.meta.url));
const LIMIT_MS = 15_000;

export async function startRemoteProgram(order: RemoteOrder = {}): Promise<RemoteProgram> {
  const child = fork(MAIN, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ origin }] = (await once(child, 'message', limit())) as [{ readonly origin: string }];
  let last = 0;
  const program: RemoteProgram = {
    origin,
    send: async (newOrder) => {
      const number = (last += 1);
      child.send({ number, order: newOrder });
      for (let applied = 0; applied !== number;) {
        [{ number: applied }] = (await once(child, 'message', limit())) as [{ readonly number: number }];
      }
    },
    close: async () => {
      const ended = once(child, 'exit', limit());
      child.disconnect();
      await ended;
    },
  };
  await program.send(order);
  return program;
}

const limit = () => ({ signal: AbortSignal.timeout(LIMIT_MS) });
