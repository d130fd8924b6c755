/**
 * The statechart of the selected actor, with its present state.
 *
 * Longer than 300 lines because the picture, its camera and its notes depend on the same selection.
 */
import type { JSX } from 'preact';
import type { StateValue } from 'xstate';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { stateIdsOf } from '../../../src/charts/chart-lookup.js';
import type { ChartModel } from '../../../src/charts/chart-model.js';
import { SIZE, type PlacedBox, type PlacedChart, type Rect } from '../chart/chart-layout.js';
import { ChartPicture, type Marks } from '../chart/chart-picture.js';
import { Minimap } from '../chart/minimap.js';
import { possibleFrom, takenBy } from '../chart/taken.js';
import { useCamera } from '../chart/use-camera.js';
import type { ActorView } from '../log/desk-messages.js';
import { chartOf, laneTitle, MANAGER_LANE } from '../log/lane-names.js';
import { isCommandable } from '../state/page.js';
import { usePage, usePageContext } from '../state/page-context.js';
import { useActor } from './details-view.js';
import { usePrint } from '../parts/media.js';
import type { TooltipProps } from '../parts/tooltip.js';
import { Legend, StateNote } from './state-note.js';
import { namesOf, type Names } from '../words/names.js';
import { isOfBrowser } from '../parts/browser-keys.js';
import { Nothing } from '../parts/nothing.js';
import { Icon } from '../parts/icon.js';

/** The layout of the chart with that hash and these names; neither field is set until it is known. */
interface LaidOut {
  readonly hash?: string;
  readonly names?: Names;
  readonly chart?: PlacedChart;
  /** Why it cannot be drawn. */
  readonly trouble?: string;
}

const NOT_YET: LaidOut = {};
const PAN = 60;
/** The chart that reviews the tools of a server. Only a running troupe knows its state; a log does not. */
const REVIEW = 'review';
/** At a smaller zoom, the smallest text is below nine pixels, and only names are shown. */
const FAR = 9 / SIZE.text;
/** Size of these names on the screen, pixels. */
const FAR_NAME = 11;
/** They are drawn again only if the zoom has changed by this much. */
const FAR_STEP = 1.08;
/** The part of a sheet of A4 that `print.css` leaves for the chart, pixels. */
const PAPER = { width: 1_030, height: 620 };

export function ChartView() {
  const { state, layouts } = usePageContext();
  const page = usePage();
  const { selected, charts, chart, book } = page;
  const actor = useActor(selected);
  const ownName = chartOf(selected);
  const name = chart ?? ownName;
  const known = charts[name];
  const names = namesOf(name, page.isRaw);
  const isPrint = usePrint();
  const [laidOut, setLaidOut] = useState<LaidOut>(NOT_YET);
  const [pointed, setPointed] = useState<PlacedBox | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (known === undefined) return;
    const { hash, model } = known;
    let isOver = false;
    const show = (result: LaidOut): void => {
      if (!isOver) setLaidOut(result);
    };
    layouts.of(hash, model, names).then(
      (chart) => show({ hash, names, chart }),
      (error: unknown) => {
        const trouble = error instanceof Error ? error.message : 'The layout failed.';
        show({ hash, names, trouble });
      },
    );
    return () => {
      isOver = true;
    };
  }, [known?.hash, names]);

  const { chart: placed, trouble } =
    laidOut.hash === known?.hash && laidOut.names === names ? laidOut : NOT_YET;
  const review = name === REVIEW && isCommandable(page) ? page.statuses.get(selected)?.review : undefined;
  const marks = useMemo(() => {
    if (placed === undefined) return undefined;
    if (name === REVIEW) return review ? marksOfReview(placed, review) : undefined;
    return actor !== undefined && name === ownName ? marksOf(placed, actor) : undefined;
  }, [placed, actor, name, ownName, review]);

  const focus = placed !== undefined && marks !== undefined ? innermost(placed, marks) : undefined;
  const lens = useCamera(box, placed, focus);
  const { camera } = lens;
  const latest = useRef(lens);
  latest.current = lens;
  // The picture is rendered again if this changes.
  const reach = useMemo(() => (part: PlacedBox) => latest.current.reveal(part), []);

  function onKeyDown(event: JSX.TargetedKeyboardEvent<HTMLDivElement>): void {
    if (isOfBrowser(event)) return;
    const keys: Record<string, () => void> = {
      '+': () => lens.zoomBy(1.25),
      '=': () => lens.zoomBy(1.25),
      '-': () => lens.zoomBy(0.8),
      0: lens.fit,
      f: lens.follow,
      ArrowLeft: () => lens.panBy(PAN, 0),
      ArrowRight: () => lens.panBy(-PAN, 0),
      ArrowUp: () => lens.panBy(0, PAN),
      ArrowDown: () => lens.panBy(0, -PAN),
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  /** The visible part of a box, in pixels of the window. */
  function onScreen({ x, y, height }: Rect): TooltipProps['beside'] {
    const { left = 0, top = 0, bottom = 0 } = box.current?.getBoundingClientRect() ?? {};
    const within = (at: number): number => Math.max(top, Math.min(bottom, at));
    const start = top + camera.y + y * camera.zoom;
    return {
      left: Math.max(left, left + camera.x + x * camera.zoom),
      top: within(start),
      bottom: within(start + height * camera.zoom),
    };
  }

  return (
    <section class="view chart-view" aria-label="Chart">
      <div class="toolbar">
        <label class="choice">
          <span>Actor</span>
          <select
            value={selected}
            onChange={({ currentTarget }) => state.change({ selected: currentTarget.value, chart: null })}
          >
            <option value={MANAGER_LANE}>{laneTitle(MANAGER_LANE)}</option>
            {book?.names.map((each) => (
              <option key={each} value={each}>
                {laneTitle(each)}
              </option>
            ))}
          </select>
        </label>
        <label class="choice">
          <span>Chart</span>
          <select
            value={name}
            onChange={({ currentTarget }) =>
              state.change({ chart: currentTarget.value === ownName ? null : currentTarget.value })
            }
          >
            {Object.keys(charts).map((each) => (
              <option key={each} value={each}>
                {namesOf(each, page.isRaw).title}
              </option>
            ))}
          </select>
        </label>
        <p class="toolbar-note" role="status">
          {marks === undefined
            ? name === ownName
              ? ''
              : 'Chart only: logs do not record the state of such an actor.'
            : name === REVIEW
              ? `The present state of the review of ${laneTitle(selected)}; logs do not record it.`
              : lastStep(known?.model, marks, names)}
        </p>
        <div class="button-group">
          <button
            type="button"
            class="icon"
            aria-label="Zoom in"
            title="Zoom in (+)"
            onClick={() => lens.zoomBy(1.25)}
          >
            <Icon path="M8 3v10M3 8h10" />
          </button>
          <button
            type="button"
            class="icon"
            aria-label="Zoom out"
            title="Zoom out (−)"
            onClick={() => lens.zoomBy(0.8)}
          >
            <Icon path="M3 8h10" />
          </button>
          <button
            type="button"
            title="The whole chart (0)"
            aria-pressed={lens.mode === 'fit'}
            onClick={lens.fit}
          >
            Fit
          </button>
          <button
            type="button"
            title="Follow the active state (f)"
            aria-pressed={lens.mode === 'follow'}
            onClick={lens.follow}
          >
            Follow
          </button>
        </div>
      </div>
      <div
        ref={box}
        class="chart-canvas"
        tabIndex={0}
        role="group"
        aria-label="Chart: arrow keys pan, plus and minus zoom, zero fits"
        onKeyDown={onKeyDown}
      >
        {trouble !== undefined && <Nothing title="The chart cannot be drawn">{trouble}</Nothing>}
        {trouble === undefined && placed === undefined && (
          <p class="loading" role="status">
            Laying out the chart…
          </p>
        )}
        {placed !== undefined && (
          <>
            <div
              class={`camera ${lens.mode}`}
              style={{ transform: `translate(${camera.x}px, ${camera.y}px) scale(${camera.zoom})` }}
            >
              <svg
                class="chart-svg"
                width={placed.width}
                height={placed.height}
                viewBox={`0 0 ${placed.width} ${placed.height}`}
                role="group"
                aria-label={`The chart: ${names.title}`}
              >
                <ChartPicture
                  chart={placed}
                  marks={marks}
                  farSize={farSize(isPrint ? zoomOnPaper(placed) : camera.zoom)}
                  onPoint={setPointed}
                  onReach={reach}
                />
              </svg>
            </div>
            {pointed !== undefined && (
              <StateNote box={pointed} marks={marks} names={names} beside={onScreen(pointed)} />
            )}
          </>
        )}
      </div>
      {placed !== undefined && (
        <div class="chart-foot">
          {marks !== undefined && <Legend />}
          <Minimap chart={placed} lens={lens} active={marks?.active ?? NONE} />
        </div>
      )}
    </section>
  );
}

/** The place of the actor; for a state with regions, the whole. */
function innermost({ boxes }: PlacedChart, { active }: Marks): PlacedBox | undefined {
  const found = boxes.filter(({ state }) => active.has(state.id));
  const parallel = found.find(({ state }) => state.type === 'parallel');
  return parallel ?? found.toSorted((a, b) => b.depth - a.depth)[0];
}

const NONE: ReadonlySet<string> = new Set();

function marksOf(chart: PlacedChart, actor: ActorView): Marks {
  const { model, content } = chart;
  const { state, change, visits } = actor;
  const active = new Set(stateIdsOf(model, state));
  const from = change?.from ?? null;
  const taken =
    change === null || from === null ? [] : takenBy(model, { from, to: state, events: change.events });
  const lines = taken.flatMap(({ source, targets }) =>
    targets.map((target) => content.lineOf(source, target)),
  );
  return {
    active,
    possible: new Set(actor.status === 'active' ? possibleFrom(model, active).map(({ id }) => id) : []),
    taken: new Set(taken.map(({ id }) => id)),
    lines: new Set(lines.filter((key) => key !== undefined)),
    step: `${actor.address} ${change?.position ?? 0}`,
    visits: visitsById(model, visits),
  };
}

function marksOfReview({ model }: PlacedChart, state: StateValue): Marks {
  const active = new Set(stateIdsOf(model, state));
  const possible = new Set(possibleFrom(model, active).map(({ id }) => id));
  return { active, possible, taken: NONE, lines: NONE, step: '', visits: new Map() };
}

function visitsById(model: ChartModel, visits: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...visits].map(([path, count]) => [`${model.root.id}.${path}`, count]));
}

function zoomOnPaper({ width, height }: PlacedChart): number {
  return Math.min(PAPER.width / width, PAPER.height / height);
}

function lastStep(model: ChartModel | undefined, { taken }: Marks, names: Names): string {
  const steps = model?.edges.filter(({ id }) => taken.has(id)) ?? [];
  const words = new Set(
    steps.map(({ eventType, text }) => (names.isRaw || eventType === '' ? text : names.event(eventType))),
  );
  return words.size === 0 ? '' : `Last transition: ${[...words].join(', ')}`;
}

/** The size of names that are readable at that zoom; undefined if all texts are. */
function farSize(zoom: number): number | undefined {
  if (zoom >= FAR) return undefined;
  return FAR_NAME / FAR_STEP ** Math.floor(Math.log(zoom) / Math.log(FAR_STEP));
}
