/**
 * Follows the stream of a runtime, one JSON message a line, and reconnects after a loss. After its end, it looks for another
 * run at the same address.
 *
 * Does not read logs: lines of a log are passed on as they are. Does not judge silence (`silence.ts`).
 */
import { INSPECTION_PATHS, type InspectionMessage } from '../../../src/inspector/page-protocol.js';
import { refusalOf, type Access } from '../state/runtime.js';
import { Silence } from './silence.js';

export interface Follower {
  readonly message: (message: InspectionMessage) => void;
  readonly lost: (why: string, mayReturn: boolean) => void;
  /** The runtime refuses this page: the token is wrong. */
  readonly refused: (status: number, why: string) => void;
  /** Nothing was received since that time, milliseconds since the epoch. It may continue. */
  readonly silent: (since: number) => void;
  /** The stream continues. */
  readonly heard: () => void;
}

export interface Followed extends Access {
  readonly follower: Follower;
  readonly wait: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Milliseconds to wait before each attempt. */
const WAITS = [500, 1_000, 2_000, 5_000];
const OTHER_RUN = 'This address has the key of another run.';
/** Maximum time for a stream to begin, milliseconds. */
const BEGIN_MS = 20_000;
/** Milliseconds between two looks for another run, once this one has ended. */
const LOOK_EVERY_MS = 5_000;

export async function followStream(followed: Followed): Promise<void> {
  const { wait, signal } = followed;
  for (let failures = 0; ; failures += 1) {
    const end = await followOnce(followed);
    if (end === 'ended') return lookForAnother(followed);
    if (end === 'over' || signal.aborted) return;
    if (end === 'heard') failures = 0;
    await wait(WAITS[Math.min(failures, WAITS.length - 1)] ?? 5_000);
  }
}

/** Resolves when another run answers. It has another token, so it refuses this page. */
async function lookForAnother(followed: Followed): Promise<void> {
  const { follower, wait, signal } = followed;
  for (;;) {
    await wait(LOOK_EVERY_MS);
    if (signal.aborted) return;
    const response = await asked(INSPECTION_PATHS.stream, followed, { method: 'HEAD', signal }).catch(
      () => undefined,
    );
    if (response === undefined || !isOfAnother(response)) continue;
    follower.refused(response.status, OTHER_RUN);
    return;
  }
}

function isOfAnother({ status }: Response): boolean {
  return status === 401 || status === 403;
}

/** `ended`: the runtime has ended. `over`: it will not come back. `heard`: a message came before it was lost. */
async function followOnce(followed: Followed): Promise<'ended' | 'over' | 'heard' | 'lost'> {
  const { follower, wait, signal } = followed;
  const stream = new AbortController();
  signal.addEventListener('abort', () => stream.abort(), { signal: stream.signal });
  const giveUp = (why: string): void => stream.abort(new Error(why));
  let silence: Silence | undefined;
  let hasBegun = false;
  let isHeard = false;
  let isOver = false;
  let hasEnded = false;
  try {
    void wait(BEGIN_MS).then(() => {
      if (!hasBegun) giveUp('The runtime does not answer.');
    });
    const response = await asked(INSPECTION_PATHS.stream, followed, { signal: stream.signal });
    hasBegun = true;
    if (isOfAnother(response)) {
      follower.refused(response.status, OTHER_RUN);
      return 'over';
    }
    if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
    for await (const message of messagesOf(response.body, () => silence?.heard())) {
      isHeard = true;
      if (signal.aborted) return 'over';
      if (message.kind === 'hello' && message.aliveEveryMs !== undefined) {
        silence = silenceOf(followed, message.aliveEveryMs);
        void silence.watch(stream.signal).then(() => giveUp('No more data arrived.'));
      }
      follower.message(message);
      hasEnded ||= message.kind === 'end';
      isOver ||= message.kind === 'log' && message.isLast === true;
    }
    if (hasEnded) return 'ended';
    if (isOver) return 'over';
    follower.lost('The runtime has ended the stream.', true);
  } catch (error) {
    if (isOver || signal.aborted) return 'over';
    if (hasEnded) return 'ended';
    follower.lost(reasonOf(error), true);
  } finally {
    stream.abort();
  }
  return isHeard ? 'heard' : 'lost';
}

/** Browsers word network errors differently. */
function reasonOf(error: unknown): string {
  return error instanceof Error && !(error instanceof TypeError)
    ? error.message
    : 'The runtime cannot be reached.';
}

function silenceOf(followed: Followed, everyMs: number): Silence {
  const { wait, follower } = followed;
  return new Silence({
    everyMs,
    wait,
    now: Date.now,
    ask: (ms) => isAnswered(followed, wait(ms)),
    begun: follower.silent,
    over: follower.heard,
  });
}

/** Whether a request was answered, or has failed, before `limit`. */
async function isAnswered(access: Access, limit: Promise<void>): Promise<boolean> {
  const asking = new AbortController();
  const answer = asked(INSPECTION_PATHS.stream, access, { method: 'HEAD', signal: asking.signal });
  const done = answer.then(
    () => true,
    () => true,
  );
  const isDone = await Promise.race([done, limit.then(() => false)]);
  asking.abort();
  return isDone;
}

/** The lines of a log as they are, in pieces, and what it gets later. Rejects if they cannot be read. */
export async function* readLines(
  access: Access,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const response = await asked(`${INSPECTION_PATHS.log}?follow`, access, { signal });
  if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function asked(path: string, { address, token, host }: Access, init: RequestInit): Promise<Response> {
  const url = new URL(`.${path}`, address);
  if (host !== undefined) url.searchParams.set('host', host);
  return fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    cache: 'no-store',
    ...init,
  });
}

/** Calls `heard` for every piece; a long message has many. */
async function* messagesOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  heard: () => void,
): AsyncGenerator<InspectionMessage> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    const lines = decoder.decode(value, { stream: true }).split('\n');
    const [first = '', ...others] = lines;
    rest.push(first);
    if (others.length === 0) continue;
    for (const line of [rest.join(''), ...others.slice(0, -1)])
      if (line !== '') yield JSON.parse(line) as InspectionMessage;
    rest = [others.at(-1) ?? ''];
  }
}
