/** One call: its span with every attempt and loss, its steps, and what was sent and answered. */
import { laneTitle } from '../log/lane-names.js';
import { rowTextOf } from '../search/row-text.js';
import { termOf } from '../search/query.js';
import type { Page } from '../state/page.js';
import { useAnswer, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { duration } from '../state/times.js';
import { isFailed, type CallStep, type CallView } from './call-views.js';
import { Payload } from './payload.js';
import { useFollowed } from './use-followed.js';

/** Free time on both sides of the span in the timeline, as a share of it. */
const MARGIN = 0.25;
const MIN_MARGIN_MS = 5;

const WORDS: Readonly<Record<CallStep['kind'], string>> = {
  started: 'started',
  sent: 'sent to the server',
  received: 'the server answers',
  finished: 'ended',
  failure: '',
};

export function CallReading() {
  const { state } = usePageContext();
  const { call: number } = usePage();
  const { call } = useFollowed();
  const close = (
    <button
      type="button"
      class="icon"
      aria-label="Close the call"
      onClick={() => state.change({ call: null })}
    >
      ✕
    </button>
  );
  if (call === undefined)
    return (
      <aside class="reading" aria-label="Call">
        <header class="reading-head">
          <h2>Call {number}</h2>
          {close}
        </header>
        <p class="loading">The log has no call with this number.</p>
      </aside>
    );
  const show = (change: Partial<Page>): void => state.change({ selected: call.lane, ...change });
  const margin = Math.max(MIN_MARGIN_MS, (call.to - call.from) * MARGIN);
  return (
    <aside class="reading" aria-label="Call">
      <header class="reading-head">
        <h2>
          {call.tool}{' '}
          <small>
            call {call.number} of {laneTitle(call.lane)} ·{' '}
            <span class={isFailed(call) ? 'bad-words' : ''}>
              {call.outcome === '' ? 'no end' : call.outcome}
            </span>{' '}
            · {duration(call.ms)}
          </small>
        </h2>
        <button
          type="button"
          onClick={() =>
            show({ view: 'timeline', window: { from: call.from - margin, to: call.to + margin } })
          }
        >
          In the timeline
        </button>
        <button
          type="button"
          onClick={() => show({ view: 'sequence', reading: call.steps[0]?.position ?? null })}
        >
          In the sequence
        </button>
        <button
          type="button"
          onClick={() =>
            show({
              view: 'events',
              filter: { text: termOf('call', String(call.number)), categories: [], isNarrow: false },
            })
          }
        >
          Its entries
        </button>
        {close}
      </header>
      <div class="reading-body">
        <Span call={call} />
        <Steps call={call} />
        <Payload title="Arguments" value={call.payload.request} />
        <Payload title="Answer" value={call.payload.answer} />
      </div>
    </aside>
  );
}

/** Each attempt is a bar; its darker part is the time at the server. */
function Span({ call }: { call: CallView }) {
  const { from, to, steps } = call;
  const share = (at: number): number => ((at - from) / Math.max(1, to - from)) * 100;
  const numbers = [...new Set(steps.flatMap(({ attempt }) => attempt ?? []))];
  return (
    <div class="call-span" aria-hidden="true">
      {numbers.map((number) => {
        const at = (kind: CallStep['kind'], otherwise: number): number =>
          steps.find((step) => step.attempt === number && step.kind === kind)?.at ?? otherwise;
        const end = at('finished', to);
        const sent = at('sent', end);
        const bar = (start: number, stop: number): { left: string; width: string } => ({
          left: `${share(start)}%`,
          width: `max(2px, ${share(stop) - share(start)}%)`,
        });
        return (
          <div key={number} class="call-attempt">
            <span style={bar(at('started', from), end)} />
            {sent < end && <span class="on-wire" style={bar(sent, at('received', end))} />}
          </div>
        );
      })}
      {steps.map(
        ({ kind, at, position }) =>
          kind === 'failure' && (
            <i key={position} class="legend-mark mark-failure" style={{ left: `${share(at)}%` }} />
          ),
      )}
    </div>
  );
}

function Steps({ call }: { call: CallView }) {
  const { state } = usePageContext();
  const times = useTimes();
  const { steps, from, attempts } = call;
  const numbers = [...new Set(steps.flatMap(({ attempt }) => attempt ?? []))];
  const lines = useAnswer('lines', { positions: steps.map(({ position }) => position) })?.answer ?? [];
  const byPosition = new Map(lines.map((line) => [line.position, line]));
  return (
    <ol class="call-steps">
      {steps.map(({ position, at, kind, attempt, outcome }) => {
        const line = byPosition.get(position);
        const text = line === undefined ? undefined : rowTextOf(line);
        const words = kind === 'failure' ? `${text?.event ?? ''} ${text?.words ?? ''}` : WORDS[kind];
        return (
          <li key={position} class={kind === 'failure' ? 'bad-words' : ''}>
            <span class="number" title={times.at(at)}>
              +{duration(at - from)}
            </span>
            <button
              type="button"
              class="link"
              onClick={() =>
                state.change({
                  view: 'events',
                  filter: { text: '', categories: [], isNarrow: false },
                  ...(line?.lane !== undefined && { selected: line.lane }),
                  reading: position,
                })
              }
            >
              {words}
            </button>
            {outcome !== '' && <b>{outcome}</b>}
            {attempts > 1 && attempt !== undefined && (
              <span class="muted">attempt {numbers.indexOf(attempt) + 1}</span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
