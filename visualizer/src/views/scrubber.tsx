/** The whole log as a strip; the handle moves the whole page. */
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { isOfBrowser } from '../parts/browser-keys.js';
import { goBy, stepBy } from '../state/moves.js';
import { look, isPast, positionOf } from '../state/page.js';
import { useAnswer, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { count, duration } from '../state/times.js';
import { Icon } from '../parts/icon.js';

const COLUMNS = 240;
/** Time after the last move of the handle, milliseconds. */
const REST_MS = 250;
/** The steps of keys, as shares of the whole. */
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  PageDown: -0.1,
  PageUp: 0.1,
};

export function Scrubber() {
  const { state, log } = usePageContext();
  const page = usePage();
  const { book, cursor, source } = page;
  const overview = useOverview();
  const position = positionOf(page);
  const { firstAt = 0, lastAt = 0, length = 0 } = book ?? {};
  const moment = useAnswer('lines', position < 0 ? undefined : { positions: [position] })?.answer[0];
  const at = cursor === null ? lastAt : (moment?.at ?? lastAt);
  const span = Math.max(1, lastAt - firstAt);
  const times = useTimes();
  const newest = useRef(0);
  const rest = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  function drag(time: number): void {
    clearTimeout(rest.current);
    rest.current = setTimeout(() => state.change({ isScrubbing: false }), REST_MS);
    if (!page.isScrubbing) state.change({ isScrubbing: true });
    void goTo(time);
  }

  async function goTo(time: number): Promise<void> {
    const mine = (newest.current += 1);
    const found = await log.ask('positionAt', { time });
    if (mine === newest.current) look(state, Math.max(0, found), length);
  }

  function onKeyDown(event: JSX.TargetedKeyboardEvent<HTMLInputElement>): void {
    const share = KEYS[event.key];
    if (share === undefined || isOfBrowser(event)) return;
    event.preventDefault();
    void goBy({ state, log }, span * share);
  }

  if (book === undefined || length === 0) return null;
  const behind = lastAt - at;
  return (
    <footer class={isPast(page) ? 'scrubber past' : 'scrubber'} aria-label="Time">
      <div class="scrubber-buttons">
        <button
          type="button"
          class="icon"
          title="One entry back (,)"
          aria-label="One entry back"
          disabled={position <= 0}
          onClick={() => stepBy(state, -1)}
        >
          <Icon path="M10 3L5 8l5 5" />
        </button>
        <button
          type="button"
          class="icon"
          title="One entry forward (.)"
          aria-label="One entry forward"
          disabled={cursor === null}
          onClick={() => stepBy(state, 1)}
        >
          <Icon path="M6 3l5 5-5 5" />
        </button>
      </div>
      <div class="scrubber-strip">
        <svg
          class="scrubber-overview"
          viewBox={`0 0 ${COLUMNS} 24`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {overview}
        </svg>
        <input
          type="range"
          aria-label="Shown moment"
          aria-valuetext={`${times.at(at)}, ${behind === 0 ? 'the end' : `${duration(behind)} before the end`}`}
          min={0}
          max={span}
          step="any"
          value={at - firstAt}
          onKeyDown={onKeyDown}
          onInput={({ currentTarget }) => drag(firstAt + Number(currentTarget.value))}
        />
      </div>
      <p class="scrubber-time">
        <span class="mono">{times.at(at)}</span>
        <small>
          {cursor === null
            ? `entry ${count(length)}`
            : `entry ${count(position + 1)} of ${count(length)} · −${duration(behind)}`}
        </small>
      </p>
      <button
        type="button"
        class={isPast(page) ? 'back primary' : 'back'}
        disabled={!isPast(page)}
        onClick={() => state.change({ cursor: null })}
      >
        {source.kind === 'live' ? 'Back to live' : 'To the end'}
      </button>
    </footer>
  );
}

function useOverview() {
  const { book } = usePage();
  // Redrawing the strip for every entry would add nothing.
  const length = book?.length ?? 0;
  const step = Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, length)) - 1));
  const known = Math.floor(length / step);
  const given = useAnswer('overview', length === 0 ? undefined : { columns: COLUMNS }, known);
  if (given === undefined) return null;
  const { entries, troubles } = given.answer;
  const most = Math.max(1, ...entries);
  return entries.flatMap((value, index) => {
    if (value === 0) return [];
    const height = 3 + 19 * (Math.log1p(value) / Math.log1p(most));
    const isTrouble = (troubles[index] ?? 0) > 0;
    return [
      <rect
        key={index}
        class={isTrouble ? 'trouble' : ''}
        x={index}
        y={24 - height}
        width={0.8}
        height={height}
      />,
    ];
  });
}
