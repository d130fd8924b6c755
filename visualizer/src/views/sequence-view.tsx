/** Messages between actors, up to the shown moment. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useFollowed } from '../calls/use-followed.js';
import { HOST, MANAGER_LINE, TIMER, type Arrow } from '../log/arrows.js';
import type { ArrowView } from '../log/desk-messages.js';
import { laneInWords, laneTitle } from '../log/lane-names.js';
import { VirtualList } from '../parts/virtual-list.js';
import { useChosen } from '../search/use-chosen.js';
import { positionOf, type SequenceChoice } from '../state/page.js';
import { useAnswer, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { count, duration, type Times } from '../state/times.js';
import { Nothing } from '../parts/nothing.js';
import { rowHeight } from '../parts/media.js';
import { namesOf } from '../words/names.js';

const ROW = rowHeight(30);
const TIME = 104;
/** Width of a time with its day. */
const DAY_AND_TIME = 158;
/** Width for each life line, pixels. */
const WIDEST = 132;
const NARROWEST = 92;
/** The host, the timers and the manager. */
const OTHER_LINES = 3;
const MOST = 400;
const NONE: ArrowView = { arrows: [], leftOut: 0 };

export function SequenceView() {
  const { state } = usePageContext();
  const page = usePage();
  const { selected, reading, sequence } = page;
  const { isNarrow, hasWire } = sequence;
  const times = useTimes();
  const left = times.hasDays ? DAY_AND_TIME : TIME;
  const { isFiltered, lanes: chosen } = useChosen();
  const followed = useFollowed();
  const [most, setMost] = useState(MOST);
  const view = useRef<HTMLElement>(null);
  const [room, setRoom] = useState(900);
  const [nth, setNth] = useState<{ position: number | null; index: number }>({ position: null, index: 0 });
  useLayoutEffect(() => {
    const element = view.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth - left));
    observer.observe(element);
    return () => observer.disconnect();
  }, [left]);
  const position = positionOf(page);
  /** If the open entry is older than the latest messages. */
  const [anchor, setAnchor] = useState<number | null>(null);
  const upTo = anchor ?? position;
  const query = {
    names: isNarrow ? [selected] : isFiltered ? chosen : undefined,
    mostLanes: Math.max(2, Math.floor(room / NARROWEST) - OTHER_LINES),
    ...{ upTo, most, hasWire },
  };
  const { arrows, leftOut } = useAnswer('arrows', position < 0 ? undefined : query)?.answer ?? NONE;
  useEffect(() => setAnchor(null), [position, reading === null]);
  useEffect(() => {
    const oldest = arrows[0]?.position;
    if (reading !== null && oldest !== undefined && reading < oldest)
      setAnchor(Math.min(position, reading + MOST / 2));
  }, [reading, arrows]);
  const lines = useMemo(() => linesOf(arrows), [arrows]);
  const lineWidth = Math.max(NARROWEST, Math.min(WIDEST, room / Math.max(1, lines.length)));
  const width = left + lines.length * lineWidth;
  const set = (change: Partial<SequenceChoice>): void =>
    state.change({ sequence: { ...sequence, ...change } });
  const first = arrows.findIndex((arrow) => arrow.position === reading);
  const shown = first === -1 || nth.position !== reading ? first : first + nth.index;
  /** One entry may have several arrows. */
  function go(index: number): void {
    const position = arrows[index]?.position ?? null;
    setNth({ position, index: index - arrows.findIndex((arrow) => arrow.position === position) });
    state.change({ reading: position });
  }
  return (
    <section ref={view} class="view sequence" aria-label="Sequence">
      <div class="toolbar">
        <label class="check">
          <input
            type="checkbox"
            checked={isNarrow}
            onChange={({ currentTarget }) => set({ isNarrow: currentTarget.checked })}
          />
          Only {laneTitle(selected)}
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={hasWire}
            onChange={({ currentTarget }) => set({ hasWire: currentTarget.checked })}
          />
          Protocol messages
        </label>
        <p class="toolbar-note" role="status">
          {count(arrows.length)} messages{anchor !== null && ' around the open entry'}
          {!isNarrow && isFiltered && `, of the ${count(chosen.length)} connections that the fleet shows`}
          {leftOut > 0 && `; no room for ${count(leftOut)} more: choose connections in the fleet`}
        </p>
        <button type="button" disabled={arrows.length < most} onClick={() => setMost(most * 4)}>
          Show earlier
        </button>
      </div>
      {arrows.length === 0 ? (
        <Nothing title="No messages">
          There are none{isNarrow && ` of ${laneInWords(selected)}`} up to this moment.
          {hasWire ? ' ' : ' Protocol messages are hidden. '}
          {(isNarrow || !hasWire) && (
            <button type="button" class="link" onClick={() => set({ isNarrow: false, hasWire: true })}>
              Show all
            </button>
          )}
        </Nothing>
      ) : (
        <div class="sequence-scroll">
          <div class="sequence-sheet" style={{ width: `${width}px` }}>
            <div class="sequence-head" aria-hidden="true">
              {lines.map((name, index) => (
                <span
                  key={name}
                  style={{ left: `${left + index * lineWidth}px`, width: `${lineWidth}px` }}
                  title={name}
                >
                  <b>{name}</b>
                </span>
              ))}
            </div>
            <VirtualList
              label="Messages"
              count={arrows.length}
              itemHeight={ROW}
              staysAtEnd
              shown={shown}
              onMove={go}
              onPick={(index) => {
                go(index);
                state.change({ view: 'events' });
              }}
              item={(index) => {
                const arrow = arrows[index];
                const place = { left, width, lineWidth };
                const isOfCall = arrow !== undefined && followed.positions.has(arrow.position);
                return arrow === undefined ? null : (
                  <ArrowRow {...{ arrow, lines, times, place, isOfCall }} />
                );
              }}
            />
          </div>
        </div>
      )}
    </section>
  );
}

interface ArrowRowProps {
  readonly arrow: Arrow;
  readonly lines: readonly string[];
  readonly times: Times;
  /** From the first line to the last, pixels. */
  readonly place: { readonly left: number; readonly width: number; readonly lineWidth: number };
  /** Whether it belongs to the followed call. */
  readonly isOfCall: boolean;
}

function ArrowRow({ arrow, lines, times, place, isOfCall }: ArrowRowProps) {
  const { left, width, lineWidth } = place;
  const middle = (name: string): number => left + (lines.indexOf(name) + 0.5) * lineWidth;
  const [from, to] = [middle(arrow.from), middle(arrow.to)];
  const isSelf = from === to;
  const { isRaw } = usePage();
  const { event } = arrow;
  const text = event === undefined ? arrow.text : namesOf(event.chart, isRaw).event(event.type);
  const words = arrow.ms === undefined ? text : `${text} · ${duration(arrow.ms)}`;
  const y = 21;
  const way = isSelf ? `M${from} 12h22v9h-18` : `M${from} ${y}H${to > from ? to - 3 : to + 3}`;
  const textX = isSelf ? from + 30 : (from + to) / 2;
  return (
    <div
      class={`sequence-row tone-${arrow.tone}${arrow.isDerived ? ' derived' : ''}${isOfCall ? ' of-call' : ''}`}
      {...(event !== undefined && { title: event.type })}
    >
      <span class="sr-only">{`${times.at(arrow.at)} ${arrow.from} to ${arrow.to}: ${words}`}</span>
      <span class="mono sequence-time" aria-hidden="true">
        {arrow.isDerived ? '' : times.at(arrow.at)}
      </span>
      <svg width={width} height={ROW} aria-hidden="true">
        {lines.map((name) => (
          <line key={name} class="life-line" x1={middle(name)} x2={middle(name)} y1={0} y2={ROW} />
        ))}
        <path class="arrow-line" d={way} />
        <path class="arrow-head" d={headAt(isSelf ? from + 3 : to, y, isSelf ? -1 : to > from ? 1 : -1)} />
        <text class="arrow-text" x={textX} y={isSelf ? 20 : 15} text-anchor={isSelf ? 'start' : 'middle'}>
          {words}
        </text>
      </svg>
    </div>
  );
}

function headAt(x: number, y: number, direction: 1 | -1): string {
  return `M${x} ${y}l${-8 * direction} -4v8z`;
}

/** The host on the left, then the manager, then every connection with its effects. */
function linesOf(arrows: readonly Arrow[]): readonly string[] {
  const names = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  const first = [HOST, TIMER, MANAGER_LINE].filter((name) => names.delete(name));
  return [...first, ...[...names].toSorted()];
}
