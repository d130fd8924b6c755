/**
 * The frame around the views, and the keys that work in all of them. Longer than 300 lines because every view and every notice is
 * placed here.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useRef } from 'preact/hooks';
import { CallsView } from './calls/calls-view.js';
import { LinkNote } from './link/link-note.js';
import { CompareView } from './compare/compare-view.js';
import type { BookSummary } from './log/desk-messages.js';
import { isOfBrowser, isTyping } from './parts/browser-keys.js';
import { Nothing } from './parts/nothing.js';
import { ReportNotice } from './parts/report-notice.js';
import { SimulateView } from './simulate/simulate-view.js';
import { stepBy } from './state/moves.js';
import { switchNaming } from './state/naming.js';
import { isPast, positionOf, VIEWS, type Page, type View } from './state/page.js';
import { MomentProvider, useMoment, usePage, usePageContext, useTimes } from './state/page-context.js';
import { count } from './state/times.js';
import { ChartView } from './views/chart-view.js';
import { DetailsView } from './views/details-view.js';
import { EventsView } from './views/events-view.js';
import { FleetView } from './views/fleet-view.js';
import { Header } from './views/header.js';
import { HostsView } from './views/hosts-view.js';
import { KeysHelp } from './views/keys-help.js';
import { Scrubber } from './views/scrubber.js';
import { SequenceView } from './views/sequence-view.js';
import { TimelineView } from './views/timeline-view.js';
import { Waiting } from './views/waiting.js';

const TITLES: Readonly<Record<View, string>> = {
  fleet: 'Fleet',
  chart: 'Chart',
  timeline: 'Timeline',
  events: 'Events',
  sequence: 'Sequence',
  calls: 'Calls',
  compare: 'Compare',
  simulate: 'Simulate',
  details: 'Details',
};

export function App() {
  const page = usePage();
  const { hasDays } = useTimes();
  useKeys();
  useDrop();
  const isShown = page.source.kind !== 'none' && page.book !== undefined && page.link.kind !== 'mismatch';
  const classes = [
    'app',
    isPast(page) && 'is-past',
    page.isScrubbing && 'is-scrubbing',
    hasDays && 'has-days',
  ];
  return (
    <MomentProvider>
      <div class={classes.filter((name) => name !== false).join(' ')}>
        <Header />
        <KeysHelp />
        <Banners page={page} />
        {page.source.kind === 'fleet' ? (
          <HostsView />
        ) : isShown && page.link.kind !== 'reading' ? (
          <Stage page={page} />
        ) : (
          <Waiting page={page} />
        )}
      </div>
    </MomentProvider>
  );
}

function Stage({ page }: { page: Page }) {
  const { view, selected, chart } = page;
  const shown = `${view} ${chart ?? ''} ${positionOf(page)} ${selected}`;
  const panel = useRef<HTMLDivElement>(null);
  const before = useRef(view);
  useWindowThatFollows();
  useEffect(() => {
    // The focus was in the view that was left.
    if (before.current !== view && document.activeElement === document.body) panel.current?.focus();
    before.current = view;
  }, [view]);
  return (
    <>
      <main class="content">
        <Tabs />
        <div class={`stage stage-${view}`}>
          <div
            ref={panel}
            id={`panel-${view}`}
            role="tabpanel"
            aria-labelledby={`tab-${view}`}
            class="panel"
            tabIndex={-1}
          >
            <Guarded what={shown}>
              {view === 'fleet' && <FleetView />}
              {view === 'chart' && <ChartView />}
              {view === 'timeline' && <TimelineView />}
              {view === 'events' && <EventsView />}
              {view === 'sequence' && <SequenceView />}
              {view === 'calls' && <CallsView />}
              {view === 'compare' && <CompareView />}
              {view === 'simulate' && <SimulateView />}
              {view === 'details' && <DetailsView />}
            </Guarded>
          </div>
          {view !== 'details' && (
            <div class="side">
              <Guarded what={shown}>
                <DetailsView />
              </Guarded>
            </div>
          )}
        </div>
      </main>
      <Scrubber />
    </>
  );
}

function Banners({ page }: { page: Page }) {
  const { link, book, source } = page;
  const times = useTimes();
  return (
    <section class="banners" aria-label="Notices">
      <LinkNote />
      {link.kind === 'lost' && source.kind !== 'file' && source.kind !== 'none' && (
        <p class="banner warn" role="alert">
          <strong>
            {link.mayReturn
              ? 'Disconnected.'
              : source.kind === 'fleet'
                ? 'The inspection has ended.'
                : 'The troupe has ended.'}
          </strong>{' '}
          {link.why}{' '}
          {link.mayReturn ? 'Reconnecting; you see the last known state.' : 'You can still view its past.'}
        </p>
      )}
      {link.kind === 'silent' && (
        <p class="banner warn" role="alert">
          <strong>No data since {times.second(link.since)}.</strong> The process of the troupe is blocked, or
          the connection to it is broken. You see the last known state; the page continues by itself.
        </p>
      )}
      {link.kind === 'refused' && book !== undefined && (
        <p class="banner warn" role="alert">
          <strong>Another run answers here.</strong> {link.why} Open the address that it has printed, or run{' '}
          <code>troupe inspect</code>. You see the last known state of the previous run.
        </p>
      )}
      {book !== undefined && book.problem !== null && <ProblemBanner book={book} problem={book.problem} />}
      {book?.hasOtherCharts === true && (
        <p class="banner warn">
          <strong>Recorded with other charts.</strong> The machines of {book.writtenBy} differ from the
          machines of this page: states are shown as recorded, but contexts between snapshots may differ.
        </p>
      )}
      {book !== undefined && book.runs.length > 1 && (
        <p class="banner">
          <strong>{count(book.runs.length)} recordings on one timeline:</strong> {book.runs.join('; ')}.
        </p>
      )}
      {book?.report && <ReportNotice report={book.report} />}
      {book !== undefined && book.leftOut > 0 && (
        <p class="banner warn">
          <strong>Older entries are left out.</strong> This page keeps the last {count(book.length)} entries
          and has dropped {count(book.leftOut)} older ones. A recording keeps everything.
        </p>
      )}
      {book !== undefined && book.before > 0 && (
        <p class="banner warn">
          <strong>The log begins later.</strong> The first {count(book.before)} entries are not in it
          {source.kind === 'live' &&
            ': the troupe has dropped them from its history, and no recording has them'}
          .
        </p>
      )}
      {book !== undefined && book.missed > 0 && (
        <p class="banner warn">
          {count(book.missed)} entries are missing
          {source.kind === 'live' ? ': this page was too slow for them' : ' in this log'}. The entries after
          them are complete.
        </p>
      )}
    </section>
  );
}

/** Why the rest of a log is not read, and how much was read. */
function ProblemBanner({
  book: { writtenBy },
  problem: { code, message },
}: {
  book: BookSummary;
  problem: NonNullable<BookSummary['problem']>;
}) {
  const [title, advice] =
    code === 'older' || code === 'newer'
      ? [`This log is from ${code === 'older' ? 'an older' : 'a newer'} version.`, '']
      : writtenBy === null
        ? ['This is not an event log.', '']
        : ['The log ends early.', 'Everything before that line is shown.'];
  return (
    <p class="banner bad" role="alert">
      <strong>{title}</strong> {message} {advice}
    </p>
  );
}

function Tabs() {
  const { state } = usePageContext();
  const { view } = usePage();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`#tab-${view}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view]);
  /** Moves by this many of the tabs that exist on a screen of this size. */
  function go(by: number): void {
    const tabs = [...(list.current?.querySelectorAll<HTMLElement>('[role=tab]') ?? [])].filter(
      ({ offsetParent }) => offsetParent !== null,
    );
    const index = tabs.findIndex(({ id }) => id === `tab-${view}`);
    const next = tabs[(index + by + tabs.length) % tabs.length];
    next?.click();
    next?.focus();
  }
  return (
    <div
      ref={list}
      class="tabs"
      role="tablist"
      aria-label="Views"
      onKeyDown={(event) => {
        if (isOfBrowser(event)) return;
        if (event.key === 'ArrowRight') go(1);
        else if (event.key === 'ArrowLeft') go(-1);
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

/** Keys that work everywhere except while the user types. */
function useKeys(): void {
  const { state } = usePageContext();
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const { target, key } = event;
      if (isTyping(target) || isOfBrowser(event)) return;
      const view = VIEWS[Number(key) - 1];
      if (key === ',') stepBy(state, -1);
      else if (key === '.') stepBy(state, 1);
      else if (key === 'l') state.change({ cursor: null });
      else if (key === 'Escape')
        state.change(state.page.reading === null ? { call: null } : { reading: null });
      else if (key === 'n') switchNaming(state);
      else if (key === '?') state.change({ hasKeysHelp: true });
      else if (key === '/') {
        event.preventDefault();
        document.querySelector<HTMLInputElement>('input[type=search]')?.focus();
      } else if (view !== undefined) state.change({ view });
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [state]);
}

/** Opens logs that are dropped anywhere on the page. */
function useDrop(): void {
  const { open } = usePageContext();
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    document.addEventListener('dragover', (event) => event.preventDefault(), { signal });
    document.addEventListener(
      'drop',
      (event) => {
        event.preventDefault();
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length > 0) open(files);
      },
      { signal },
    );
    return () => listening.abort();
  }, [open]);
}

/**
 * Shows a message in place of content that cannot be drawn, such as a log that differs from what the page expects. The rest
 * of the page stays. Tries again when `what` changes.
 */
function Guarded({ what, children }: { what: string; children: ComponentChildren }) {
  const [error, again] = useErrorBoundary() as [unknown, () => void];
  useEffect(again, [what]);
  if (error === undefined) return <>{children}</>;
  return (
    <Nothing title="This cannot be shown">
      It contains data that this page does not expect. The other views still work.
    </Nothing>
  );
}

/** Moves the time window of the timeline along with the moment, in whichever view the moment changes. */
function useWindowThatFollows(): void {
  const { state } = usePageContext();
  const { cursor, book } = usePage();
  const moment = useMoment();
  // Until the log answers, the moment is still the previous one.
  const at = moment !== undefined && moment.position === cursor ? moment.at : undefined;
  useLayoutEffect(() => {
    const { window } = state.page;
    if (window === null || book === undefined || at === undefined) return;
    if (window.from <= at && at <= window.to) return;
    const span = window.to - window.from;
    const from = Math.max(book.firstAt, Math.min(book.lastAt - span, at - span / 2));
    state.change({ window: { from, to: from + span } });
  }, [at]);
}
