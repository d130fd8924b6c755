/** Draws a chart: its active states, the transitions taken last, and the possible ones. Owns no camera. */
import type { ElkPoint } from 'elkjs/lib/elk-api.js';
import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { toneOf } from './arrangements.js';
import type { ChartBranch } from '../../../src/charts/chart-lookup.js';
import type { ChartText, Span } from './chart-content.js';
import { farNames, type FarName } from './far-names.js';
import { SIZE, type PlacedBox, type PlacedChart, type PlacedLine, type TextColumn } from './chart-layout.js';

export interface Marks {
  readonly active: ReadonlySet<string>;
  /** Ids of transitions that are possible now. */
  readonly possible: ReadonlySet<string>;
  /** Ids of the transitions taken last, and keys of their lines. */
  readonly taken: ReadonlySet<string>;
  readonly lines: ReadonlySet<string>;
  /** Identifies the step, so that each is animated once. */
  readonly step: string;
  /** By state id. */
  readonly visits: ReadonlyMap<string, number>;
}

export interface ChartPictureProps {
  readonly chart: PlacedChart;
  /** Undefined if nothing is known of an actor: only the chart is drawn. */
  readonly marks: Marks | undefined;
  /** Size of the names if only names are shown, because the picture is too small for its texts; undefined otherwise. */
  readonly farSize: number | undefined;
  readonly onPoint: (box: PlacedBox | undefined) => void;
  /** Called when a box is reached by keyboard. */
  readonly onReach: (box: PlacedBox) => void;
}

const NOTHING: Marks = {
  active: new Set(),
  possible: new Set(),
  taken: new Set(),
  lines: new Set(),
  step: '',
  visits: new Map(),
};

export const ChartPicture = memo(({ chart, marks, farSize, onPoint, onReach }: ChartPictureProps) => {
  const known = marks ?? NOTHING;
  const far = useMemo(
    () => (farSize === undefined ? undefined : { size: farSize, names: farNames(chart, farSize) }),
    [chart, farSize],
  );
  const { content, boxes, starts, lines, everywhere, names } = chart;
  const lineTone = ({ line }: PlacedLine): string =>
    line === undefined || line.labels.length > 0 ? 'plain' : toneOf(content.topOf(line.target));
  const ordered = lines.toSorted((a, b) => Number(known.lines.has(a.id)) - Number(known.lines.has(b.id)));
  return (
    <g class={marks === undefined ? 'chart' : 'chart has-actor'}>
      <ArrowHeads />
      {everywhere.length > 0 && far === undefined && (
        <g class="chart-header">
          <text class="chart-heading" x={0} y={14}>
            {names.title} <tspan class="chart-muted">in every state:</tspan>
          </text>
          <Texts columns={everywhere} x={0} y={36} marks={known} />
        </g>
      )}
      {boxes.map((box) => (
        <Box key={box.state.id} box={box} marks={known} far={far} onPoint={onPoint} onReach={onReach} />
      ))}
      {starts.map(({ x, y }) => (
        <circle key={`${x} ${y}`} class="chart-start" cx={x} cy={y} r={5} />
      ))}
      {ordered.map((line) => {
        const isTaken = known.lines.has(line.id);
        const tone = isTaken ? 'taken' : lineTone(line);
        return line.paths.map((points, index) => (
          <g
            key={`${line.id}${index}${isTaken ? known.step : ''}`}
            class={isTaken ? 'chart-way taken' : 'chart-way'}
          >
            <path
              class={`chart-line tone-${tone}`}
              marker-end={`url(#head-${tone})`}
              d={roundedPath(points)}
            />
            {isTaken && <path class="chart-flow" d={roundedPath(points)} />}
          </g>
        ));
      })}
      {(far === undefined ? lines : []).flatMap(({ id, line, labels }) =>
        labels.map((rect, index) => (
          <g key={`${id}-${index}`}>
            <rect class="chart-label" {...rect} rx={6} />
            {line?.labels.map((text, row) => (
              <TextLine
                key={row}
                text={text}
                x={rect.x + 7}
                y={rect.y + 15 + row * SIZE.label}
                marks={known}
              />
            ))}
          </g>
        )),
      )}
      {far !== undefined &&
        boxes.map(({ state, title, depth }) => {
          const place = far.names.get(state.id);
          return (
            place !== undefined && (
              <text
                key={state.id}
                class={`chart-name far tone-${depth === 0 ? toneOf(state.key) : 'plain'}`}
                {...place}
                style={{ fontSize: `${far.size}px` }}
                aria-hidden="true"
              >
                {title}
              </text>
            )
          );
        })}
    </g>
  );
});

interface Far {
  readonly size: number;
  readonly names: ReadonlyMap<string, FarName>;
}

interface BoxProps extends Pick<ChartPictureProps, 'onPoint' | 'onReach'> {
  readonly box: PlacedBox;
  readonly marks: Marks;
  readonly far: Far | undefined;
}

function Box({ box, marks, far, onPoint, onReach }: BoxProps) {
  const { state, title, x, y, width, height, depth, isRegion, columns } = box;
  const isActive = marks.active.has(state.id);
  const isOuter = depth === 0;
  const tone = isOuter ? toneOf(state.key) : 'plain';
  const classes = [
    'chart-box',
    isOuter && 'outer',
    isRegion && 'region',
    isActive && 'active',
    `tone-${tone}`,
  ];
  const visits = marks.visits.get(state.id) ?? 0;
  const labels = [title, isActive && 'active', visits > 0 && `entered ${visits} times`, state.description];
  return (
    <g
      class="chart-state"
      data-state={state.id}
      data-active={isActive}
      tabIndex={0}
      role="img"
      aria-label={labels.filter((each) => typeof each === 'string').join(', ')}
      onPointerEnter={() => onPoint(box)}
      onPointerLeave={() => onPoint(undefined)}
      onFocus={({ currentTarget }) => {
        onPoint(box);
        if (currentTarget.matches(':focus-visible')) onReach(box);
      }}
      onBlur={() => onPoint(undefined)}
    >
      <rect
        class={classes.filter((name) => name !== false).join(' ')}
        x={x}
        y={y}
        width={width}
        height={height}
        rx={8}
      />
      {state.type === 'final' && (
        <rect class="chart-final" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} />
      )}
      {far === undefined && (
        <text class={`chart-name tone-${tone}`} x={x + SIZE.pad} y={y + SIZE.titleBaseline}>
          {title}
        </text>
      )}
      {visits > 0 && far === undefined && (
        <text class="chart-visits" x={x + width - 10} y={y + SIZE.titleBaseline} text-anchor="end">
          {visits}×
        </text>
      )}
      {far === undefined && <Texts columns={columns} x={x + SIZE.pad} y={y + SIZE.firstRow} marks={marks} />}
    </g>
  );
}

function Texts({
  columns,
  x,
  y,
  marks,
}: {
  columns: readonly TextColumn[];
  x: number;
  y: number;
  marks: Marks;
}) {
  return (
    <>
      {columns.map((column) =>
        column.texts.map((text, row) => (
          <TextLine
            key={`${column.x} ${row}`}
            text={text}
            x={x + column.x}
            y={y + row * SIZE.row}
            marks={marks}
          />
        )),
      )}
    </>
  );
}

function TextLine({ text, x, y, marks }: { text: ChartText; x: number; y: number; marks: Marks }) {
  const { transition, spans } = text;
  const isTaken = transition !== undefined && marks.taken.has(transition.id);
  const isPossible = transition !== undefined && marks.possible.has(transition.id);
  const kind = transition === undefined ? 'chart-runs' : isTaken ? 'taken' : isPossible ? 'possible' : 'idle';
  return (
    <text class={`chart-text ${kind}`} x={x} y={y} data-transition={transition?.id}>
      {transition !== undefined && <title>{titleOf(transition)}</title>}
      {spans.map((span, index) => (
        <tspan key={index} class={classOf(span)}>
          {span[1]}
        </tspan>
      ))}
    </text>
  );
}

/** The name of the transition's event, and what the chart says about it. */
function titleOf({ text, guard, actions, description }: ChartBranch): string {
  const condition = guard === null ? '' : ` [${guard}]`;
  const consequences = actions.length === 0 ? '' : ` / ${actions.join(', ')}`;
  return [`${text}${condition}${consequences}`, description ?? ''].join('\n').trim();
}

function classOf([name]: Span): string {
  return name.startsWith('to ') ? `tone-${toneOf(name.slice(3))}` : `chart-${name}`;
}

const TONES = ['plain', 'work', 'good', 'warn', 'bad', 'rest', 'taken'];

function ArrowHeads() {
  return (
    <defs>
      {TONES.map((tone) => (
        <marker
          key={tone}
          id={`head-${tone}`}
          viewBox="0 0 8 8"
          refX={7}
          refY={4}
          markerWidth={8}
          markerHeight={8}
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path class={`chart-head tone-${tone}`} d="M0 0 L8 4 L0 8 z" />
        </marker>
      ))}
    </defs>
  );
}

/** A path with rounded corners. */
function roundedPath(points: readonly ElkPoint[]): string {
  const [start, ...others] = points;
  if (start === undefined) return '';
  const steps = others.map((corner, index) => {
    const before = points[index] ?? start;
    const after = points[index + 2];
    if (after === undefined) return `L${at(corner)}`;
    const radius = Math.min(6, distance(before, corner) / 2, distance(corner, after) / 2);
    return `L${at(towards(corner, before, radius))} Q${at(corner)} ${at(towards(corner, after, radius))}`;
  });
  return `M${at(start)} ${steps.join(' ')}`;
}

const at = ({ x, y }: ElkPoint): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
const distance = (a: ElkPoint, b: ElkPoint): number => Math.hypot(b.x - a.x, b.y - a.y);

function towards(from: ElkPoint, to: ElkPoint, length: number): ElkPoint {
  const share = length / (distance(from, to) || 1);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
