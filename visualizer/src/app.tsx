/** The frame around the views: where what is shown comes from, when it was, and how to get elsewhere. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isPast, positionOf, VIEWS, type Link, type Page, type View } from './state/page.js';
import { MomentProvider, useMoment, usePage, useTheater } from './state/theater.js';
import { clockTime, count, duration } from './state/times.js';
import { nextTheme, themeNow, type Theme } from './state/theme.js';
import { ChartView } from './views/chart-view.js';
import { DetailsView } from './views/details-view.js';
import { EventsView } from './views/events-view.js';
import { FleetView, Nothing } from './views/fleet-view.js';
import { Icon, look, Scrubber } from './views/scrubber.js';
import { SequenceView } from './views/sequence-view.js';
import { TimelineView } from './views/timeline-view.js';

const TITLES: Readonly<Record<View, string>> = {
  fleet: 'Fleet',
  chart: 'Chart',
  timeline: 'Timeline',
  events: 'Events',
  sequence: 'Sequence',
  details: 'Details',
};

export function App() {
  const page = usePage();
  useKeys();
  useDrop();
  const isShown = page.source.kind !== 'none' && page.book !== undefined && page.link.kind !== 'mismatch';
  return (
    <MomentProvider>
      <div class={isPast(page) ? 'app is-past' : 'app'}>
        <Header />
        <Banners page={page} />
        {isShown && page.link.kind !== 'reading' ? <Stage page={page} /> : <Waiting page={page} />}
      </div>
    </MomentProvider>
  );
}

function Stage({ page: { view } }: { page: Page }) {
  return (
    <>
      <main class="content">
        <Tabs />
        <div class={`stage stage-${view}`}>
          <div id={`panel-${view}`} role="tabpanel" aria-labelledby={`tab-${view}`} class="panel">
            {view === 'fleet' && <FleetView />}
            {view === 'chart' && <ChartView />}
            {view === 'timeline' && <TimelineView />}
            {view === 'events' && <EventsView />}
            {view === 'sequence' && <SequenceView />}
            {view === 'details' && <DetailsView />}
          </div>
          {view !== 'details' && (
            <div class="side">
              <DetailsView />
            </div>
          )}
        </div>
      </main>
      <Scrubber />
    </>
  );
}

function Header() {
  const page = usePage();
  const { source, hello, book } = page;
  const title = source.kind === 'none' ? '' : source.title;
  return (
    <header class="header">
      <h1 class="brand">
        <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
          <circle cx="6" cy="7" r="3.2" class="brand-a" />
          <circle cx="18" cy="7" r="3.2" class="brand-b" />
          <circle cx="12" cy="17.5" r="3.2" class="brand-c" />
          <path d="M9 8.5l2 5.6M15 8.5l-2 5.6M9.4 7h5.2" class="brand-line" />
        </svg>
        Troupe
      </h1>
      {title !== '' && (
        <p class="source" title={book?.writtenBy ?? hello?.package.version ?? ''}>
          {title}
        </p>
      )}
      <When page={page} />
      <div class="header-actions">
        <OpenButton />
        <ShareButton />
        <ThemeButton />
      </div>
    </header>
  );
}

/** Whether what is shown is now. */
function When({ page }: { page: Page }) {
  const { state } = useTheater();
  const { source, link, book } = page;
  const moment = useMoment();
  if (source.kind === 'none' || book === undefined || book.length === 0) return null;
  if (isPast(page)) {
    const at = moment?.at ?? book.lastAt;
    return (
      <p class="when past" role="status">
        <span class="when-word">Past</span>
        <span class="mono">{clockTime(at)}</span>
        <button type="button" class="link" onClick={() => state.change({ cursor: null })}>
          {source.kind === 'live' ? 'Back to live' : 'To the end'}
        </button>
      </p>
    );
  }
  if (source.kind === 'file')
    return (
      <p class="when recorded" role="status">
        <span class="when-word">{book.isWhole || book.problem !== null ? 'Recorded' : 'Reading…'}</span>{' '}
        {duration(book.lastAt - book.firstAt)}
      </p>
    );
  return link.kind === 'open' ? (
    <p class="when live" role="status">
      <span class="when-word">Live</span>
    </p>
  ) : (
    <p class="when lost" role="status">
      <span class="when-word">Disconnected</span>
    </p>
  );
}

function Banners({ page }: { page: Page }) {
  const { link, book, source } = page;
  return (
    <div class="banners">
      {link.kind === 'lost' && source.kind !== 'none' && (
        <p class="banner warn" role="alert">
          <strong>{link.mayReturn ? 'Disconnected.' : 'The troupe has ended.'}</strong> {link.why}{' '}
          {link.mayReturn
            ? 'It is tried again; what you see is the last that came.'
            : 'You can still look around.'}
        </p>
      )}
      {book !== undefined && book.problem !== null && (
        <p class="banner bad" role="alert">
          <strong>
            {book.problem.isNewer ? 'This log is from a newer version.' : 'The log ends early.'}
          </strong>{' '}
          {book.problem.message}{' '}
          {book.problem.isNewer
            ? 'Open it with the version that wrote it.'
            : 'Everything before that line is shown.'}
        </p>
      )}
      {book?.hasOtherCharts === true && book.problem?.isNewer !== true && (
        <p class="banner warn">
          <strong>Recorded with other charts.</strong> {book.writtenBy} had other machines than this page:
          states are as they were recorded, contexts between snapshots may differ.
        </p>
      )}
      {book !== undefined && book.missed > 0 && (
        <p class="banner warn">
          {count(book.missed)} entries are missing: this page was too slow for them. What came after is whole.
        </p>
      )}
    </div>
  );
}

function Waiting({ page: { link, source } }: { page: Page }) {
  const { state } = useTheater();
  return (
    <main class="waiting">
      <WaitingNote link={link} hasSource={source.kind !== 'none'} />
      {link.kind === 'idle' && (
        <div class="drop-zone">
          <Icon path="M8 11V3M5 6l3-3 3 3M3 10v3h10v-3" />
          <p>
            Drop an event log (<code>.jsonl</code>) here
          </p>
          <OpenButton />
          <p class="muted small">
            It stays on this computer. Record one with <code>troupe up --record FILE</code>.
          </p>
        </div>
      )}
      {link.kind === 'mismatch' && (
        <button type="button" class="primary" onClick={() => window.location.reload()}>
          Load the page again
        </button>
      )}
      {(link.kind === 'refused' || (link.kind === 'lost' && !link.mayReturn)) && (
        <button type="button" onClick={() => state.begin({})}>
          Open a log instead
        </button>
      )}
    </main>
  );
}

function WaitingNote({ link, hasSource }: { link: Link; hasSource: boolean }) {
  switch (link.kind) {
    case 'idle':
      return (
        <Nothing title="See what your connections do">Live through time, or from a recorded log.</Nothing>
      );
    case 'connecting':
      return (
        <div class="nothing" role="status">
          <span class="spinner" aria-hidden="true" />
          <h2>Connecting…</h2>
          <p>The running troupe is being asked for its charts and its log.</p>
        </div>
      );
    case 'reading':
      return (
        <div class="nothing">
          <h2>Reading the log…</h2>
          <progress aria-label="Share of the log that is read" max={1} value={link.share} />
        </div>
      );
    case 'open':
      return (
        <div class="nothing" role="status">
          <span class="spinner" aria-hidden="true" />
          <h2>{hasSource ? 'Waiting for the first entries…' : 'Connecting…'}</h2>
          <p>The log of the running troupe is on its way.</p>
        </div>
      );
    case 'lost':
      return (
        <Nothing title={link.mayReturn ? 'Nobody answers' : 'The troupe has ended'}>
          {link.why} {link.mayReturn && 'It is tried again by itself.'}
        </Nothing>
      );
    case 'refused':
      return (
        <Nothing title="This address is not valid any more">
          {link.why} Open the address that the running <code>troupe</code> has printed.
        </Nothing>
      );
    case 'mismatch':
      return (
        <Nothing title="The page and the troupe are of different versions">
          The troupe speaks version {link.theirs}, this page {link.ours}. Load the page again to get the one
          that fits.
        </Nothing>
      );
  }
}

function Tabs() {
  const { state } = useTheater();
  const { view } = usePage();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`#tab-${view}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view]);
  function go(index: number): void {
    const next = VIEWS[(index + VIEWS.length) % VIEWS.length] ?? 'fleet';
    state.change({ view: next });
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  }
  return (
    <div
      ref={list}
      class="tabs"
      role="tablist"
      aria-label="Views"
      onKeyDown={(event) => {
        const index = VIEWS.indexOf(view);
        if (event.key === 'ArrowRight') go(index + 1);
        else if (event.key === 'ArrowLeft') go(index - 1);
      }}
    >
      {VIEWS.map((each) => (
        <button
          key={each}
          id={`tab-${each}`}
          type="button"
          role="tab"
          class={`tab tab-${each}`}
          aria-selected={view === each}
          {...(view === each && { 'aria-controls': `panel-${each}` })}
          tabIndex={view === each ? 0 : -1}
          onClick={() => state.change({ view: each })}
        >
          {TITLES[each]}
        </button>
      ))}
    </div>
  );
}

function OpenButton() {
  const { open } = useTheater();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Open a log
      </button>
      <input
        ref={input}
        type="file"
        accept=".jsonl,.ndjson,.json"
        class="sr-only"
        tabIndex={-1}
        aria-label="Log file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) open(file);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

function ShareButton() {
  const { runtime } = useTheater();
  const { link, source } = usePage();
  const [trouble, setTrouble] = useState('');
  if (runtime === undefined || source.kind === 'none' || link.kind !== 'open') return null;
  async function share(): Promise<void> {
    try {
      const file = await runtime?.share();
      if (file !== undefined) download(file, 'troupe.html');
      setTrouble('');
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : 'It cannot be exported.');
    }
  }
  return (
    <>
      <button type="button" title="One HTML file with this page and the log" onClick={() => void share()}>
        Export
      </button>
      {trouble !== '' && (
        <span role="alert" class="small bad-words">
          {trouble}
        </span>
      )}
    </>
  );
}

function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const THEME_WORDS: Readonly<Record<Theme, string>> = {
  system: 'like the system',
  light: 'light',
  dark: 'dark',
};

function ThemeButton() {
  const [theme, setTheme] = useState(themeNow);
  return (
    <button
      type="button"
      class="icon"
      aria-label={`Colors: ${THEME_WORDS[theme]}`}
      title={`Colors: ${THEME_WORDS[theme]}`}
      onClick={() => setTheme(nextTheme())}
    >
      <Icon
        path={
          theme === 'system'
            ? 'M2 3h12v8H2zM6 14h4M8 11v3'
            : theme === 'light'
              ? 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M13 3l-1.5 1.5M4.5 11.5L3 13'
              : 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z'
        }
      />
    </button>
  );
}

/** Keys that work everywhere but where somebody types. */
function useKeys(): void {
  const { state } = useTheater();
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const { target, key } = event;
      const isTyping =
        target instanceof HTMLInputElement ||
        target instanceof HTMLSelectElement ||
        target instanceof HTMLTextAreaElement;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const { page } = state;
      const length = page.book?.length ?? 0;
      const view = VIEWS[Number(key) - 1];
      if (key === ',') look(state, positionOf(page) - 1, length);
      else if (key === '.') look(state, positionOf(page) + 1, length);
      else if (key === 'l') state.change({ cursor: null });
      else if (key === '/') {
        event.preventDefault();
        document.querySelector<HTMLInputElement>('input[type=search]')?.focus();
      } else if (view !== undefined) state.change({ view });
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [state]);
}

/** A log can be dropped anywhere. */
function useDrop(): void {
  const { open } = useTheater();
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    document.addEventListener('dragover', (event) => event.preventDefault(), { signal });
    document.addEventListener(
      'drop',
      (event) => {
        event.preventDefault();
        const file = event.dataTransfer?.files[0];
        if (file !== undefined) open(file);
      },
      { signal },
    );
    return () => listening.abort();
  }, [open]);
}
