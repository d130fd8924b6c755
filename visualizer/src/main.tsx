/** Starts the page: the worker of the log, the worker of the layout, the state, and the effect of news on it. */
import { render } from 'preact';
import { INSPECTION_PROTOCOL, type Hello } from '../../src/inspector/page-protocol.js';
import { App } from './app.js';
import { Layouts } from './chart/layouts.js';
import { AddressBar } from './link/address-bar.js';
import { FIRST_COMPARISON, movedBy } from './compare/comparison.js';
import type { BookSummary, News } from './log/desk-messages.js';
import { keepTemplate, takeEnclosedLog } from './state/own-file.js';
import { keptNaming } from './state/naming.js';
import { PageState } from './state/page.js';
import { Runtime, takeAccess } from './state/runtime.js';
import { PageContextProvider } from './state/page-context.js';
import { followTheme } from './state/theme.js';
import { LogClient } from './worker/log-client.js';
import { startWorker } from './worker/start-workers.js';
import { namesOf } from './words/names.js';

const state = new PageState();
const log = new LogClient(startWorker('log'), hear);
const layouts = new Layouts(() => startWorker('elk'));
const access = takeAccess(window);
/** The hello of a troupe that reconnected, before its log arrives. */
let back: Hello | undefined;

function hear(news: News): void {
  switch (news.news) {
    case 'charts': {
      // The charts of a running troupe take precedence.
      state.change({ charts: { ...news.charts, ...state.page.hello?.charts } });
      // Lays out the chart that is viewed most in advance.
      const { connection } = news.charts;
      if (connection !== undefined)
        layouts.prepare(connection.hash, connection.model, namesOf('connection', state.page.isRaw));
      break;
    }
    case 'hello':
      // The present content stays until there is new content, and so does whatever the person is doing in it.
      if (isBack(news.hello)) back = news.hello;
      else greet(news.hello);
      break;
    case 'book':
      if (back !== undefined) greet(back);
      back = undefined;
      show(news.book);
      break;
    case 'status':
      state.change({ statuses: new Map(news.rows.map((row) => [row.server, row])) });
      break;
    case 'hosts':
      state.change({ hosts: news.hosts });
      break;
    case 'progress':
      state.change({ link: { kind: 'reading', share: news.share } });
      break;
    case 'lost':
      state.change({ link: { kind: 'lost', why: news.why, mayReturn: news.mayReturn } });
      break;
    case 'silent':
      if (state.page.link.kind === 'open')
        state.change({ link: { kind: 'silent', since: news.since + state.page.clockAhead } });
      break;
    case 'heard':
      if (state.page.link.kind === 'silent') state.change({ link: { kind: 'open' } });
      break;
    case 'refused':
      state.change({ link: { kind: 'refused', why: news.why } });
      break;
  }
}

/** Positions count from the first kept entry. The viewed position stays, unless it was dropped. */
function show(book: BookSummary): void {
  const { page } = state;
  const gone = book.leftOut - (page.book?.leftOut ?? book.leftOut);
  const moved = (position: number | null): number | null =>
    position === null ? null : Math.max(0, position - gone);
  state.change({
    book,
    cursor: moved(page.cursor),
    reading: moved(page.reading),
    comparison: movedBy(page.comparison, gone),
    ...(page.link.kind === 'reading' && { link: { kind: 'open' } }),
  });
}

function isBack({ protocol, mode }: Hello): boolean {
  const { source, book } = state.page;
  return protocol === INSPECTION_PROTOCOL && mode === 'live' && source.kind === 'live' && book !== undefined;
}

/** After a reconnect, the page keeps the person's choices. */
function greet(hello: Hello): void {
  const { protocol, charts, mode, title, at } = hello;
  if (protocol !== INSPECTION_PROTOCOL) {
    state.change({
      link: { kind: 'mismatch', theirs: String(protocol), ours: String(INSPECTION_PROTOCOL) },
    });
    return;
  }
  keepTemplate();
  state.change({
    hello,
    charts: { ...state.page.charts, ...charts },
    source: { kind: mode, title },
    link: mode === 'file' ? { kind: 'reading', share: undefined } : { kind: 'open' },
    clockAhead: at - Date.now(),
    cursor: null,
    reading: null,
    window: null,
    comparison: FIRST_COMPARISON,
    simulation: null,
    book: undefined,
  });
}

function open(files: readonly File[], title: string): void {
  back = undefined;
  state.begin({ source: { kind: 'file', title }, link: { kind: 'reading', share: 0 } });
  log.order({ order: 'open', files });
}

const enclosed = takeEnclosedLog();

followTheme();
state.change({ isRaw: keptNaming() });
if (enclosed !== undefined) open([enclosed], 'shared log');
else if (access !== undefined) {
  state.change({ link: { kind: 'connecting' } });
  log.order({ order: 'follow', ...access });
}
new AddressBar({ state, log, window, hasAccess: access !== undefined }).start();

const root = document.querySelector('#page');
if (root !== null)
  render(
    <PageContextProvider
      pageContext={{
        state,
        log,
        layouts,
        runtime: access === undefined || access.host !== undefined ? undefined : new Runtime(access),
        host: access?.host,
        open: (files) => open(files, files.map(({ name }) => name).join(', ')),
      }}
    >
      <App />
    </PageContextProvider>,
    root,
  );
