/** The worker that reads the log, so that a page of any size stays quick. Only glue: who does what is in its imports. */
import type { InspectionMessage } from '../../../src/inspection/protocol.js';
import type { Answered, Asked, News, Order } from '../log/desk-messages.js';
import { LogDesk } from '../log/log-desk.js';
import { ownCharts } from '../log/own-charts.js';
import { followStream } from './follow-stream.js';

/** The page is told of growth so often at most, milliseconds. */
const TELL_EVERY = 16;

const port = globalThis as unknown as Pick<DedicatedWorkerGlobalScope, 'postMessage' | 'addEventListener'>;
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
      desk.clear();
      tell({ news: 'hello', hello: message });
      break;
    case 'log':
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
    case 'farewell':
      tell({ news: 'lost', why: message.why, mayReturn: false });
      break;
  }
}

async function obey(order: Order): Promise<void> {
  if (order.order === 'follow') {
    await followStream(
      order.address,
      order.token,
      {
        message: hear,
        lost: (why, mayReturn) => tell({ news: 'lost', why, mayReturn }),
        refused: (status, why) => tell({ news: 'refused', status, why }),
      },
      wait,
    );
    return;
  }
  await desk.read(new Uint8Array(order.bytes), (share) => tell({ news: 'progress', share }));
  tellBook();
}

async function answer({ id, question, ask }: Asked): Promise<void> {
  tell({ id, answer: await desk.answer(question, ask as never) });
}

port.addEventListener('message', ({ data }: MessageEvent<Order | Asked>) => {
  void ('order' in data ? obey(data) : answer(data));
});
tell({ news: 'charts', charts });
