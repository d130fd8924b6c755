/** Who told whom what, up to the moment that is shown. */
import { useMemo, useState } from 'preact/hooks';
import { HOST, MANAGER_LINE, TIMER, type Arrow } from '../log/arrows.js';
import { VirtualList } from '../parts/virtual-list.js';
import { positionOf } from '../state/page.js';
import { useAnswer, usePage, useTheater } from '../state/theater.js';
import { clockTime, duration } from '../state/times.js';
import { Nothing } from '../parts/nothing.js';

const ROW = 30;
const TIME = 104;
const LINE = 132;
const MOST = 400;

export function SequenceView() {
  const { state } = useTheater();
  const page = usePage();
  const { selected, reading } = page;
  const [isNarrow, setNarrow] = useState(true);
  const [most, setMost] = useState(MOST);
  const [hasWire, setWire] = useState(true);
  const position = positionOf(page);
  const given = useAnswer(
    'arrows',
    position < 0 ? undefined : { name: isNarrow ? selected : undefined, upTo: position, most },
  );
  const arrows = useMemo(
    () => (given?.answer ?? []).filter(({ tone }) => hasWire || tone !== 'wire'),
    [given, hasWire],
  );
  const lines = useMemo(() => linesOf(arrows), [arrows]);
  const width = TIME + lines.length * LINE;
  return (
    <section class="view sequence" aria-label="Sequence">
      <div class="toolbar">
        <label class="check">
          <input
            type="checkbox"
            checked={isNarrow}
            onChange={({ currentTarget }) => setNarrow(currentTarget.checked)}
          />
          Only {selected === '' ? 'manager' : selected}
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={hasWire}
            onChange={({ currentTarget }) => setWire(currentTarget.checked)}
          />
          Wire
        </label>
        <p class="toolbar-note" role="status">
          {arrows.length} messages
        </p>
        <button type="button" disabled={arrows.length < most} onClick={() => setMost(most * 4)}>
          Show earlier
        </button>
      </div>
      {arrows.length === 0 ? (
        <Nothing title="No messages">Up to this moment nobody has told anybody anything.</Nothing>
      ) : (
        <div class="sequence-scroll">
          <div class="sequence-sheet" style={{ width: `${width}px` }}>
            <div class="sequence-head" aria-hidden="true">
              {lines.map((name, index) => (
                <span
                  key={name}
                  style={{ left: `${TIME + index * LINE}px`, width: `${LINE}px` }}
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
              shown={arrows.findIndex((arrow) => arrow.position === reading)}
              onMove={(index) => state.change({ reading: arrows[index]?.position ?? null })}
              item={(index) => {
                const arrow = arrows[index];
                return arrow === undefined ? null : <ArrowRow arrow={arrow} lines={lines} width={width} />;
              }}
            />
          </div>
        </div>
      )}
    </section>
  );
}

function ArrowRow({ arrow, lines, width }: { arrow: Arrow; lines: readonly string[]; width: number }) {
  const { state } = useTheater();
  const { reading } = usePage();
  const middle = (name: string): number => TIME + (lines.indexOf(name) + 0.5) * LINE;
  const [from, to] = [middle(arrow.from), middle(arrow.to)];
  const isSelf = from === to;
  const words = arrow.ms === undefined ? arrow.text : `${arrow.text} · ${duration(arrow.ms)}`;
  const y = 21;
  const way = isSelf ? `M${from} 12h22v9h-18` : `M${from} ${y}H${to > from ? to - 3 : to + 3}`;
  const textX = isSelf ? from + 30 : (from + to) / 2;
  return (
    <button
      type="button"
      class={`sequence-row tone-${arrow.tone}${arrow.isDerived ? ' derived' : ''}`}
      aria-pressed={arrow.position === reading}
      onClick={() => state.change({ reading: arrow.position, view: 'events' })}
    >
      <span class="sr-only">{`${clockTime(arrow.at)} ${arrow.from} to ${arrow.to}: ${words}`}</span>
      <span class="mono sequence-time" aria-hidden="true">
        {arrow.isDerived ? '' : clockTime(arrow.at)}
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
    </button>
  );
}

function headAt(x: number, y: number, direction: 1 | -1): string {
  return `M${x} ${y}l${-8 * direction} -4v8z`;
}

/** The host to the left, then the manager, and every connection with what belongs to it. */
function linesOf(arrows: readonly Arrow[]): readonly string[] {
  const names = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  const first = [HOST, TIMER, MANAGER_LINE].filter((name) => names.delete(name));
  return [...first, ...[...names].toSorted()];
}
