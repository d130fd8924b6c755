/**
 * Follows what a runtime tells, one JSON message a line, and comes back after it was lost.
 *
 * Does not read logs: lines of a log go on as they are.
 */
import { INSPECTION_PATHS, type InspectionMessage } from '../../../src/inspection/protocol.js';
import { refusalOf } from '../state/runtime.js';

export interface Follower {
  readonly message: (message: InspectionMessage) => void;
  readonly lost: (why: string, mayReturn: boolean) => void;
  /** It wants nothing of us: the token is not right. */
  readonly refused: (status: number, why: string) => void;
}

/** Milliseconds to wait before each try. */
const WAITS = [500, 1_000, 2_000, 5_000];

export async function followStream(
  address: string,
  token: string,
  follower: Follower,
  wait: (ms: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    const end = await followOnce(address, token, follower, signal);
    if (end === 'over' || signal.aborted) return;
    if (end === 'heard') failures = 0;
    await wait(WAITS[Math.min(failures, WAITS.length - 1)] ?? 5_000);
  }
}

/** `over`: it will not come back. `heard`: something came before it was lost. */
async function followOnce(
  address: string,
  token: string,
  follower: Follower,
  signal: AbortSignal,
): Promise<'over' | 'heard' | 'lost'> {
  let isHeard = false;
  let isOver = false;
  try {
    const response = await asked(INSPECTION_PATHS.stream, address, token, signal);
    if (response.status === 401 || response.status === 403) {
      follower.refused(response.status, 'This address has the key of another run.');
      return 'over';
    }
    if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
    for await (const message of messagesOf(response.body)) {
      isHeard = true;
      if (signal.aborted) return 'over';
      follower.message(message);
      if (message.kind === 'farewell' || (message.kind === 'log' && message.isLast === true)) isOver = true;
    }
    if (isOver) return 'over';
    follower.lost('The runtime has ended the stream.', true);
  } catch (error) {
    if (isOver || signal.aborted) return 'over';
    follower.lost(error instanceof Error ? error.message : 'It cannot be reached.', true);
  }
  return isHeard ? 'heard' : 'lost';
}

/** The lines of a log as they are, in pieces. Rejects where they cannot be read. */
export async function* readLines(
  address: string,
  token: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const response = await asked(INSPECTION_PATHS.log, address, token, signal);
  if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function asked(path: string, address: string, token: string, signal: AbortSignal): Promise<Response> {
  return fetch(new URL(`.${path}`, address), {
    headers: { authorization: `Bearer ${token}` },
    cache: 'no-store',
    signal,
  });
}

async function* messagesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<InspectionMessage> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = decoder.decode(value, { stream: true }).split('\n');
    const [first = '', ...others] = lines;
    rest.push(first);
    if (others.length === 0) continue;
    for (const line of [rest.join(''), ...others.slice(0, -1)])
      if (line !== '') yield JSON.parse(line) as InspectionMessage;
    rest = [others.at(-1) ?? ''];
  }
}
