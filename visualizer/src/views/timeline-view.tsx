/**
 * One lane for each connection: its states as bars, failures and commands as marks.
 *
 * Longer than 300 lines because the drawing, the pointer and the keys share one window of time.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useFollowed } from '../calls/use-followed.js';
import type { Bar, Mark } from '../log/bars.js';
import { laneInWords, laneTitle } from '../log/lane-names.js';
import { stateValueWords, stateWords } from '../log/state-words.js';
import { CATEGORY_WORDS } from '../words/entry-words.js';
import { isOfBrowser } from '../parts/browser-keys.js';
import { StateMark } from '../parts/state-badge.js';
import { FleetFilter } from '../search/fleet-filter.js';
import { rowTextOf } from '../search/row-text.js';
import { useChosen } from '../search/use-chosen.js';
import { Tooltip, type TooltipProps } from '../parts/tooltip.js';
import { goBy } from '../state/moves.js';
import { look, type TimeWindow } from '../state/page.js';
import { useAnswer, useMoment, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { useNow } from '../state/tick.js';
import { duration } from '../state/times.js';
import { AXIS, drawOverlay, drawTimeline, LANE } from './timeline-canvas.js';
import { Nothing } from '../parts/nothing.js';
import { Icon } from '../parts/icon.js';

/** A drag shorter than this is a click, pixels. */
const CLICK = 5;
const MIN_WINDOW = 5;
/** Number of states and of marks that are described in words. */
const MOST_TOLD = 40;

export function TimelineView() {
  const { state, log } = usePageContext();
  const page = usePage();
  const moment = useMoment();
  const { book, selected, cursor, source, link, isRaw } = page;
  const isLive = source.kind === 'live' && link.kind === 'open';
  const now = useNow(isLive);
  const times = useTimes();
  const found = useChosen();
  const names = found.lanes;
  const { call } = useFollowed();
  const scroll = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 800, height: 400 });
  const [top, setTop] = useState(0);
  const [brush, setBrush] = useState<TimeWindow | null>(null);
  const [hover, setHover] = useState<{ x: number; y: number } | null>(null);
  const [theme, setTheme] = useState(0);
  const isEmpty = book === undefined || book.length === 0;

  useLayoutEffect(() => {
    const [box, picture] = [scroll.current, canvas.current];
    if (box === null || picture === null) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: picture.clientWidth, height: picture.clientHeight }),
    );
    observer.observe(picture);
    const repaint = (): void => setTheme((value) => value + 1);
    const themes = new MutationObserver(repaint);
    themes.observe(document.documentElement, { attributes: true });
    return () => {
      observer.disconnect();
      themes.disconnect();
    };
  }, [isEmpty]);

  const end = isLive ? Math.max(book?.lastAt ?? 0, now) : (book?.lastAt ?? 0);
  const all = { from: book?.firstAt ?? 0, to: Math.max(end, (book?.firstAt ?? 0) + MIN_WINDOW) };
  const window = page.window ?? all;
  const first = Math.max(0, Math.floor(top / LANE) - 2);
  const inSight = names.slice(first, Math.ceil((top + size.height) / LANE) + 2);
  const given = useAnswer(
    'stretches',
    isEmpty
      ? undefined
      : { names: inSight, window: { ...window, columns: size.width, now: isLive ? end : undefined } },
    book?.length ?? 0,
  );
  const at = useMoment()?.at;
  const cursorAt = cursor === null ? null : (at ?? null);

  useLayoutEffect(() => {
    if (canvas.current === null) return;
    drawTimeline(canvas.current, {
      window,
      view: given?.answer,
      names: inSight,
      top: first * LANE - top,
      selected,
      isRaw,
    });
  }, [given, window.from, window.to, inSight.join('\n'), first, top, selected, size, theme, isRaw]);
  useLayoutEffect(() => {
    if (overlay.current === null) return;
    const lane = call === undefined ? -1 : names.indexOf(call.lane);
    const span = call === undefined || lane === -1 ? null : { call, top: AXIS + lane * LANE - top };
    drawOverlay(overlay.current, { window, cursor: cursorAt, brush, span });
  });

  // A view that is opened shows the selected lane.
  useLayoutEffect(() => {
    const index = names.indexOf(selected);
    if (index !== -1) showLane(index);
  }, [isEmpty, names.length]);

  const timeOf = (x: number): number =>
    window.from + (x / Math.max(1, size.width)) * (window.to - window.from);
  const laneOf = (y: number): string | undefined => names[Math.floor((y - AXIS + top) / LANE)];

  async function goTo(time: number): Promise<void> {
    look(state, await log.ask('positionAt', { time }), book?.length ?? 0);
  }

  /** From the result of the previous press, which may not be rendered yet. */
  function zoom(factor: number, center?: number): void {
    const { from: first, to: last } = state.page.window ?? all;
    const around = center ?? (first + last) / 2;
    const span = Math.max(MIN_WINDOW, (last - first) * factor);
    if (span >= all.to - all.from) return state.change({ window: null });
    const from = Math.max(all.from, around - ((around - first) / (last - first)) * span);
    state.change({ window: { from, to: from + span } });
  }

  /** A click moves there, a drag zooms to its range. If a finger scrolls instead, it was neither. */
  function onPointerDown(event: JSX.TargetedPointerEvent<HTMLCanvasElement>): void {
    if (event.button !== 0 || !event.isPrimary) return;
    const { currentTarget: picture, pointerId, offsetX: startX } = event;
    picture.setPointerCapture(pointerId);
    const dragging = new AbortController();
    const listen = (
      type: 'pointermove' | 'pointerup' | 'pointercancel',
      fn: (event: PointerEvent) => void,
    ): void =>
      picture.addEventListener(type, (heard) => heard.pointerId === pointerId && fn(heard), {
        signal: dragging.signal,
      });
    const end = (): void => {
      dragging.abort();
      setBrush(null);
    };
    const isDrag = ({ offsetX }: PointerEvent): boolean => Math.abs(offsetX - startX) > CLICK;
    listen('pointercancel', end);
    listen('pointermove', (moved) => {
      if (isDrag(moved)) setBrush({ from: timeOf(startX), to: timeOf(moved.offsetX) });
    });
    listen('pointerup', (ended) => {
      end();
      if (isDrag(ended)) return zoomTo(timeOf(startX), timeOf(ended.offsetX));
      const name = ended.offsetY > AXIS ? laneOf(ended.offsetY) : undefined;
      if (name !== undefined) state.change({ selected: name });
      void goTo(timeOf(ended.offsetX));
    });
  }

  function zoomTo(one: number, other: number): void {
    const from = Math.min(one, other);
    state.change({ window: { from, to: Math.max(one, other, from + MIN_WINDOW) } });
  }

  function onWheel(event: JSX.TargetedWheelEvent<HTMLCanvasElement>): void {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, timeOf(event.offsetX));
  }

  function goToLane(index: number): void {
    state.change({ selected: names[index] ?? selected });
    showLane(index);
  }

  function showLane(index: number): void {
    const box = scroll.current;
    if (box === null) return;
    const lane = index * LANE;
    const lowest = lane + LANE + AXIS - box.clientHeight;
    if (lane < box.scrollTop) box.scrollTop = lane;
    else if (box.scrollTop < lowest) box.scrollTop = lowest;
  }

  function onKeyDown(event: JSX.TargetedKeyboardEvent<HTMLCanvasElement>): void {
    if (isOfBrowser(event)) return;
    const index = names.indexOf(selected);
    const span = window.to - window.from;
    const step = event.shiftKey ? span / 10 : span / 100;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => void goBy({ state, log }, -step),
      ArrowRight: () => void goBy({ state, log }, step),
      ArrowDown: () => goToLane(Math.min(names.length - 1, index + 1)),
      ArrowUp: () => goToLane(Math.max(0, index - 1)),
      '+': () => zoom(0.5, cursorAt ?? undefined),
      '-': () => zoom(2, cursorAt ?? undefined),
      0: () => state.change({ window: null }),
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  const states = useMemo(
    () =>
      new Map(
        [...(moment?.rows ?? []), ...(moment?.auxiliaries ?? [])].map(({ name, state }) => [name, state]),
      ),
    [moment],
  );
  const stretch = given?.answer.stretches.find(({ name }) => name === selected);
  const marks = stretch?.marks.slice(-MOST_TOLD) ?? [];
  const told = useAnswer(
    'lines',
    marks.length === 0 ? undefined : { positions: marks.map(({ position }) => position) },
  );
  const storyOf = (position: number): string => {
    const words = told?.answer.find((line) => line.position === position)?.words ?? '';
    return words === '' ? '' : `: ${words}`;
  };
  if (isEmpty)
    return (
      <section class="view" aria-label="Timeline">
        <Nothing title="Nothing has happened yet">
          The timeline starts with the first entry of the log.
        </Nothing>
      </section>
    );
  const row = moment?.rows.find(({ name }) => name === selected);
  const present =
    row !== undefined
      ? stateWords(selected, row, isRaw)
      : stateValueWords(
          selected,
          moment?.auxiliaries.find(({ name }) => name === selected)?.value ?? {
            phase: moment?.manager ?? '',
          },
          isRaw,
        );
  const values = given?.answer.values ?? [];
  return (
    <section class="view timeline" aria-label="Timeline">
      <div class="toolbar">
        <FleetFilter chosen={found} isShort />
        <p class="toolbar-note mono">
          {times.at(window.from)} – {times.at(window.to)} · {duration(window.to - window.from)}
        </p>
        <ul class="legend" aria-label="Marks">
          {(['failure', 'rejection', 'list', 'call'] as const).map((mark) => (
            <li key={mark}>
              <span class={`legend-mark mark-${mark}`} aria-hidden="true" />
              {CATEGORY_WORDS[mark]}
            </li>
          ))}
        </ul>
        <div class="button-group">
          <button
            type="button"
            class="icon"
            aria-label="Zoom in"
            title="Zoom in (+)"
            onClick={() => zoom(0.5)}
          >
            <Icon path="M8 3v10M3 8h10" />
          </button>
          <button
            type="button"
            class="icon"
            aria-label="Zoom out"
            title="Zoom out (−)"
            onClick={() => zoom(2)}
          >
            <Icon path="M3 8h10" />
          </button>
          <button
            type="button"
            disabled={page.window === null}
            onClick={() => state.change({ window: null })}
          >
            All
          </button>
        </div>
      </div>
      <div
        class="timeline-scroll"
        ref={scroll}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <div class="timeline-space" style={{ height: `${names.length * LANE + AXIS}px` }}>
          <div class="timeline-frame">
            <div class="timeline-names">
              {inSight.map((name, index) => (
                <button
                  key={name}
                  type="button"
                  class="lane-name"
                  aria-pressed={name === selected}
                  title={laneTitle(name)}
                  style={{ transform: `translateY(${AXIS + (first + index) * LANE - top}px)` }}
                  // There may be a thousand: keys move through them on the canvas.
                  tabIndex={-1}
                  onClick={() => {
                    state.change({ selected: name });
                    canvas.current?.focus();
                  }}
                >
                  <StateMark state={states.get(name) ?? ''} />
                  <span>{laneTitle(name)}</span>
                </button>
              ))}
            </div>
            <canvas
              ref={canvas}
              class="timeline-canvas"
              tabIndex={0}
              role="application"
              aria-label="Timeline: arrow keys move in time and between lanes, plus and minus zoom, zero shows all"
              aria-describedby="lane-story"
              onPointerDown={onPointerDown}
              onPointerMove={(event) => setHover({ x: event.offsetX, y: event.offsetY })}
              onPointerLeave={() => setHover(null)}
              onWheel={onWheel}
              onKeyDown={onKeyDown}
            />
            <canvas ref={overlay} class="timeline-overlay" aria-hidden="true" />
            {hover !== null && brush === null && (
              <HoverNote
                beside={besideOf(canvas.current, hover)}
                time={times.at(timeOf(hover.x))}
                {...under(hover)}
              />
            )}
          </div>
        </div>
      </div>
      <p class="sr-only" role="status">
        {laneTitle(selected)}, {present}
      </p>
      <ol id="lane-story" class="sr-only" aria-label={`Visible states of ${laneInWords(selected)}`}>
        {stretch?.bars.slice(-MOST_TOLD).map((bar) => (
          <li key={bar.from}>
            {wordsOf(selected, bar)} from {times.at(bar.from)}, {duration(bar.to - bar.from)}
          </li>
        ))}
        {marks.map((mark) => (
          <li key={mark.position}>
            {categoriesOf(mark)} at {times.at(mark.at)}
            {mark.count > 1 ? `, ${mark.count} together` : ''}
            {storyOf(mark.position)}
          </li>
        ))}
      </ol>
    </section>
  );

  function wordsOf(lane: string, { value }: Bar): string {
    return stateValueWords(lane, values[value], isRaw);
  }

  /** The lane, the state and the mark below the pointer. */
  function under({ x, y }: { x: number; y: number }): { words: string; position: number | undefined } {
    const name = y > AXIS ? laneOf(y) : undefined;
    const lane = given?.answer.stretches.find((each) => each.name === name);
    if (name === undefined || lane === undefined) return { words: '', position: undefined };
    const time = timeOf(x);
    const near = (timeOf(CLICK) - timeOf(0)) * 1.5;
    const mark = lane.marks.find(({ at: markAt }) => Math.abs(markAt - time) < near);
    const bar = lane.bars.find(({ from, to }) => from <= time && time <= to);
    const stateOfBar = bar === undefined ? '' : `${wordsOf(name, bar)} · ${duration(bar.to - bar.from)}`;
    const words = [laneTitle(name), stateOfBar, mark === undefined ? '' : markWords(mark)];
    return { words: words.filter((each) => each !== '').join('\n'), position: mark?.position };
  }
}

const categoriesOf = ({ categories }: Mark): string =>
  categories.map((category) => CATEGORY_WORDS[category]).join(', ');

function markWords(mark: Mark): string {
  return `${categoriesOf(mark)}${mark.count > 1 ? ` ×${mark.count}` : ''}`;
}

/** Beside the pointer. */
function besideOf(picture: HTMLElement | null, { x, y }: { x: number; y: number }): TooltipProps['beside'] {
  const { left = 0, top = 0 } = picture?.getBoundingClientRect() ?? {};
  return { left: left + x + 12, top: top + y, bottom: top + y + 8 };
}

interface HoverNoteProps {
  readonly beside: TooltipProps['beside'];
  readonly time: string;
  readonly words: string;
  /** Position of the entry below the pointer. */
  readonly position: number | undefined;
}

function HoverNote({ beside, time, words, position }: HoverNoteProps) {
  const { isRaw } = usePage();
  const line = useAnswer('lines', position === undefined ? undefined : { positions: [position] })?.answer[0];
  const event = line?.position === position ? line : undefined;
  return (
    <Tooltip beside={beside}>
      <span class="mono">{time}</span>
      {words !== '' && <pre>{words}</pre>}
      {event !== undefined && <p>{event.words || rowTextOf(event, isRaw).event}</p>}
    </Tooltip>
  );
}
