/** The worker that reads the log, so that a page of any size stays responsive. It only connects its imports. */
import type { InspectionMessage } from '../../../src/inspector/page-protocol.js';
import type { Answered, Asked, News, Order } from '../log/desk-messages.js';
import { LogDesk } from '../log/log-desk.js';
import type { Access } from '../state/runtime.js';
import { ownCharts } from '../log/own-charts.js';
import { followStream, readLines } from './follow-stream.js';
import { openFiles } from './open-files.js';

/** Minimum time between two reports of growth, milliseconds. */
const POST_EVERY_MS = 16;
/** Minimum time between two reports of progress, milliseconds. */
const PROGRESS_EVERY = 100;

const port = globalThis as unknown as Pick<MessagePort, 'postMessage' | 'addEventListener'>;
const post = (message: News | Answered): void => port.postMessage(message);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const turns = new MessageChannel();
const resumed: (() => void)[] = [];
turns.port1.onmessage = () => resumed.shift()?.();
/** A timer would be delayed to at least four milliseconds. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    resumed.push(resolve);
    turns.port2.postMessage(null);
  });

const charts = ownCharts();
const desk = new LogDesk(charts, turn);
const encoder = new TextEncoder();
let following = new AbortController();
/** The next data belongs to another log. Until it comes, the old log can be viewed. */
let isAnew = false;
let growth: ReturnType<typeof setTimeout> | undefined;

function postBook(): void {
  clearTimeout(growth);
  growth = undefined;
  post({ news: 'book', book: desk.summary() });
}

function noteGrowth(): void {
  growth ??= setTimeout(postBook, POST_EVERY_MS);
}

function hear(message: InspectionMessage): void {
  switch (message.kind) {
    case 'hello':
      isAnew = true;
      post({ news: 'hello', hello: message });
      break;
    case 'log':
      if (isAnew) desk.clear();
      isAnew = false;
      desk.append(encoder.encode(message.lines));
      if (message.isLast === true) desk.end();
      noteGrowth();
      break;
    case 'status':
      post({ news: 'status', at: message.at, rows: message.rows });
      break;
    case 'hosts':
      post({ news: 'hosts', hosts: message.hosts });
      break;
    case 'resync':
      noteGrowth();
      break;
    case 'alive':
      break;
    case 'end':
      post({ news: 'lost', why: message.why, mayReturn: false });
      break;
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'The log cannot be read.';
const lost = (why: string, mayReturn: boolean): void => post({ news: 'lost', why, mayReturn });

async function follow(access: Access): Promise<void> {
  const { signal } = following;
  const message = (heard: InspectionMessage): void => {
    hear(heard);
    if (heard.kind !== 'hello' || heard.mode !== 'file') return;
    // A file is read faster as plain lines.
    following.abort();
    following = new AbortController();
    const { signal: reading } = following;
    void readFile(readLines(access, reading), undefined, reading);
  };
  const refused = (status: number, why: string): void => post({ news: 'refused', status, why });
  const silent = (since: number): void => post({ news: 'silent', since });
  const heard = (): void => post({ news: 'heard' });
  await followStream({ ...access, follower: { message, lost, refused, silent, heard }, wait, signal });
}

/** `size` is undefined if it is unknown. */
async function readFile(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  size: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  let reportedAt = 0;
  const progress = (read: number): void => {
    const now = performance.now();
    if (now - reportedAt < PROGRESS_EVERY) return;
    reportedAt = now;
    post({ news: 'progress', share: size === undefined ? undefined : read / size });
  };
  try {
    await desk.read(pieces, progress, noteGrowth);
    if (!signal.aborted) postBook();
  } catch (error) {
    if (!signal.aborted) lost(messageOf(error), false);
  }
}

function obey(order: Order): Promise<void> {
  following.abort();
  following = new AbortController();
  if (order.order === 'follow') return follow(order);
  const { files } = order;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return readFile(openFiles(files), files.length === 1 ? size : undefined, following.signal);
}

async function answer({ id, question, ask }: Asked): Promise<void> {
  try {
    post({ id, answer: await desk.answer(question, ask) });
  } catch (error) {
    post({ id, trouble: messageOf(error) });
  }
}

port.addEventListener('message', ({ data }: MessageEvent<Order | Asked>) => {
  void ('order' in data ? obey(data) : answer(data));
});
post({ news: 'charts', charts });
