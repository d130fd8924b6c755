/** A remote server in a process of its own, which takes orders while it runs. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Replaces the ordinary answer. With `needsToken`, the answer is 401 without a token; with `another`, always. */
export interface RemoteAnswer {
  readonly afterMs?: number;
  readonly silent?: true;
  readonly needsToken?: true | 'another';
  readonly status?: number;
}

export interface RemoteOrder {
  /** By JSON-RPC method, HTTP method or path, from here on. */
  readonly answers?: Readonly<Record<string, RemoteAnswer>>;
  readonly forget?: 'sessions' | 'tokens';
  /** Nobody can connect from here on. */
  readonly isGone?: true;
}

export interface RemoteProgram {
  /** Such as `http://127.0.0.1:1234`. */
  readonly origin: string;
  /** Resolves when it has obeyed. */
  tell(order: RemoteOrder): Promise<void>;
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
    tell: async (told) => {
      const number = (last += 1);
      child.send({ number, order: told });
      for (let obeyed = 0; obeyed !== number;) {
        [{ number: obeyed }] = (await once(child, 'message', limit())) as [{ readonly number: number }];
      }
    },
    close: async () => {
      const ended = once(child, 'exit', limit());
      child.disconnect();
      await ended;
    },
  };
  await program.tell(order);
  return program;
}

const limit = () => ({ signal: AbortSignal.timeout(LIMIT_MS) });
