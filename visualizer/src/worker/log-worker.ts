/** The worker that reads the log, so that a page of any size stays quick. Only glue: who does what is in its imports. */
import type { InspectionMessage } from '../../../src/inspection/protocol.js';
import type { Answered, Asked, News, Order } from '../log/desk-messages.js';
import { LogDesk } from '../log/log-desk.js';
import type { Access } from '../state/runtime.js';
import { ownCharts } from '../log/own-charts.js';
import { piecesOf } from './file-pieces.js';
import { followStream, readLines } from './follow-stream.js';

/** The page is told of growth so often at most, milliseconds. */
const TELL_EVERY = 16;
/** And so often of how far a file is read. */
const PROGRESS_EVERY = 100;

const port = globalThis as unknown as Pick<MessagePort, 'postMessage' | 'addEventListener'>;
const tell = (message: News | Answered): void => port.postMessage(message);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const turns = new MessageChannel();
/** A timer would be held back to four milliseconds. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    turns.port1.onmessage = () => resolve();
    turns.port2.postMessage(null);
  });

const charts = ownCharts();
const desk = new LogDesk(charts, turn);
const encoder = new TextEncoder();
let following = new AbortController();
/** What comes next is not of the log before. Until then that one can be looked at. */
let isAnew = false;
let growth: ReturnType<typeof setTimeout> | undefined;

function tellBook(): void {
  clearTimeout(growth);
  growth = undefined;
  tell({ news: 'book', book: desk.summary() });
}

function noteGrowth(): void {
  growth ??= setTimeout(tellBook, TELL_EVERY);
}

function hear(message: InspectionMessage): void {
  switch (message.kind) {
    case 'hello':
      isAnew = true;
      tell({ news: 'hello', hello: message });
      break;
    case 'log':
      if (isAnew) desk.clear();
      isAnew = false;
      desk.append(encoder.encode(message.lines));
      if (message.isLast === true) desk.end();
      noteGrowth();
      break;
    case 'status':
      tell({ news: 'status', at: message.at, rows: message.rows });
      break;
    case 'resync':
      noteGrowth();
      break;
    case 'alive':
      break;
    case 'farewell':
      tell({ news: 'lost', why: message.why, mayReturn: false });
      break;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'It cannot be read.');
const lost = (why: string, mayReturn: boolean): void => tell({ news: 'lost', why, mayReturn });

async function follow(access: Access): Promise<void> {
  const { signal } = following;
  const message = (heard: InspectionMessage): void => {
    hear(heard);
    if (heard.kind !== 'hello' || heard.mode !== 'file') return;
    // A file is read faster as the lines that it is.
    following.abort();
    following = new AbortController();
    const { signal: reading } = following;
    void readFile(readLines(access, reading), undefined, reading);
  };
  const refused = (status: number, why: string): void => tell({ news: 'refused', status, why });
  const silent = (since: number): void => tell({ news: 'silent', since });
  const heard = (): void => tell({ news: 'heard' });
  await followStream({ ...access, follower: { message, lost, refused, silent, heard }, wait, signal });
}

/** `size` is undefined where nobody knows it. */
async function readFile(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  size: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  let told = 0;
  const progress = (read: number): void => {
    const now = performance.now();
    if (now - told < PROGRESS_EVERY) return;
    told = now;
    tell({ news: 'progress', share: size === undefined ? undefined : read / size });
  };
  try {
    await desk.read(pieces, progress);
    if (!signal.aborted) tellBook();
  } catch (error) {
    if (!signal.aborted) lost(messageOf(error), false);
  }
}

function obey(order: Order): Promise<void> {
  following.abort();
  following = new AbortController();
  if (order.order === 'follow') return follow(order);
  return readFile(piecesOf(order.file), order.file.size, following.signal);
}

async function answer({ id, question, ask }: Asked): Promise<void> {
  try {
    tell({ id, answer: await desk.answer(question, ask) });
  } catch (error) {
    tell({ id, trouble: messageOf(error) });
  }
}

port.addEventListener('message', ({ data }: MessageEvent<Order | Asked>) => {
  void ('order' in data ? obey(data) : answer(data));
});
tell({ news: 'charts', charts });
