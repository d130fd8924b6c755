/** A copy of a connection, on which events can be tried. Nothing of it reaches the server. */
import { useEffect } from 'preact/hooks';
import { publicState } from '../../../machines/connection/public-state.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import { isConnectionLane, laneTitle } from '../log/lane-names.js';
import { stateWords } from '../log/state-words.js';
import { isOfBrowser, isTyping } from '../parts/browser-keys.js';
import { DifferenceTable } from '../parts/difference-table.js';
import { Nothing } from '../parts/nothing.js';
import { StateBadge } from '../parts/state-badge.js';
import { positionOf, type PageState } from '../state/page.js';
import { useAnswer, useMoment, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { count } from '../state/times.js';
import { namesOf, type Names } from '../words/names.js';
import { useActor } from '../views/details-view.js';
import { CHOICE_KINDS, type Choice, type ChoiceKind, type SimulatedStep, type Try } from './messages.js';

const TITLES: Readonly<Record<ChoiceKind, string>> = {
  command: 'Commands',
  effect: 'Ends of effects',
  timer: 'Timers',
  fact: 'The session and the surroundings',
};

export function SimulateView() {
  const { state } = usePageContext();
  const { simulation } = usePage();
  useKeys();
  return (
    <section class="view tool-view" aria-label="Simulate">
      <Start />
      {simulation === null ? (
        <Nothing title="Nothing is simulated">
          Choose a connection and a moment. Then you can try, on a copy, what may happen to it.
        </Nothing>
      ) : (
        <Simulated state={state} />
      )}
    </section>
  );
}

/** Chooses the connection, and starts at the moment that is shown. */
function Start() {
  const { state } = usePageContext();
  const page = usePage();
  const { selected, book } = page;
  const actor = useActor(selected);
  const moment = useMoment();
  const position = positionOf(page);
  const line = useAnswer('lines', position < 0 ? undefined : { positions: [position] })?.answer[0];
  const connections = (book?.names ?? []).filter(isConnectionLane);
  const isKnown = isConnectionLane(selected) && actor !== undefined;

  function start(): void {
    if (actor === undefined || moment === undefined) return;
    const { state: value, context } = actor;
    state.change({
      simulation: {
        lane: selected,
        seq: line?.seq ?? 0,
        start: { state: value, context, at: moment.at },
        tries: [],
      },
    });
  }

  return (
    <div class="toolbar">
      <label class="choice">
        <span>Connection</span>
        <select
          value={selected}
          onChange={({ currentTarget }) => state.change({ selected: currentTarget.value, chart: null })}
        >
          {!connections.includes(selected) && <option value={selected}>choose one</option>}
          {connections.map((each) => (
            <option key={each} value={each}>
              {laneTitle(each)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="primary" disabled={!isKnown} onClick={start}>
        Simulate from the shown moment
      </button>
    </div>
  );
}

function Simulated({ state }: { state: PageState }) {
  const { simulation, isRaw } = usePage();
  const names = namesOf('connection', isRaw);
  const times = useTimes();
  const given = useAnswer(
    'simulate',
    simulation === null ? undefined : { start: simulation.start, tries: simulation.tries },
  );
  if (simulation === null) return null;
  const { lane, seq, start, tries } = simulation;
  const view = given?.answer;
  if (given === undefined || view === undefined)
    return (
      <Nothing title="This cannot be simulated">
        {`The chart of this page has no state '${stateText(start.state)}': the log was recorded with another version.`}
      </Nothing>
    );
  const path = publicState(view.state);
  return (
    <div class="simulated">
      <div class="simulated-head" role="status">
        <strong class="simulated-mark">Simulated</strong>
        <span>
          A copy of {laneTitle(lane)} at {times.at(start.at)} (entry {count(seq)}). Nothing is sent to the
          server, and no effect runs.
          {view.isBare &&
            ' The log was recorded with another chart: only transitions are tried, without guards, actions and context.'}
        </span>
        <StateBadge state={path.state} words={stateWords(lane, path, isRaw)} />
        <div class="button-group">
          <button
            type="button"
            title="Undo the last (u)"
            disabled={tries.length === 0}
            onClick={() => undo(state)}
          >
            Undo
          </button>
          <button
            type="button"
            title="Back to the start (r)"
            disabled={tries.length === 0}
            onClick={() => retry(state, [])}
          >
            Reset
          </button>
          <button type="button" onClick={() => state.change({ simulation: null })}>
            End
          </button>
        </div>
      </div>
      <div class="simulated-body">
        <section class="simulated-choices" aria-label="What can happen">
          <p class="muted small">
            {view.isOver
              ? 'It has ended: nothing more can happen to it.'
              : `Running: ${actorsOf(view.running, names) || 'nothing'}`}
          </p>
          {CHOICE_KINDS.map((kind) => (
            <Choices
              key={kind}
              kind={kind}
              all={view.choices}
              choose={(each) => retry(state, [...tries, each])}
            />
          ))}
          {view.guarded.length > 0 && (
            <div role="group" aria-label="Refused by guards">
              <h2>Refused by guards</h2>
              <ul>
                {view.guarded.map(({ event, guards }) => (
                  <li key={event} class="muted small">
                    <span title={event}>{names.event(event)}</span> [{guardsOf(guards, names)}]
                  </li>
                ))}
              </ul>
            </div>
          )}
        </section>
        <ol class="simulated-steps" aria-label="What was tried">
          {view.steps.map((step, index) => (
            <Step key={index} step={step} number={index + 1} />
          ))}
        </ol>
      </div>
    </div>
  );
}

interface ChoicesProps {
  readonly kind: ChoiceKind;
  readonly all: readonly Choice[];
  readonly choose: (chosen: Try) => void;
}

function Choices({ kind, all, choose }: ChoicesProps) {
  const { isRaw } = usePage();
  const names = namesOf('connection', isRaw);
  const choices = all.filter((choice) => choice.kind === kind);
  if (choices.length === 0) return null;
  return (
    <div role="group" aria-label={TITLES[kind]}>
      <h2>{TITLES[kind]}</h2>
      <ul>
        {choices.map(({ event, data, guards, leadsTo, try: chosen }) => (
          <li key={JSON.stringify(chosen)}>
            <button type="button" class="simulated-choice" onClick={() => choose(chosen)}>
              <span title={event}>{names.event(event)}</span>
              {data !== '' && <span class="small"> {data}</span>}
              {guards.length > 0 && <span class="muted small"> [{guardsOf(guards, names)}]</span>}
              <span class="small"> → {names.stateValue(leadsTo)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Step({ step, number }: { step: SimulatedStep; number: number }) {
  const { isRaw } = usePage();
  const names = namesOf('connection', isRaw);
  const { event, data, state, changes, starts, ends, timers, emits } = step;
  const facts: readonly (readonly [string, string])[] = [
    ['would start', actorsOf(starts, names)],
    ['would end', actorsOf(ends, names)],
    ['would set timers of', timers.join(', ')],
    ['would publish', emits.map((type) => names.event(type)).join(', ')],
  ];
  return (
    <li>
      <p>
        {number}. <span title={event}>{names.event(event)}</span>{' '}
        {data !== '' && <span class="small">{data} </span>}→ <strong>{names.stateValue(state)}</strong>
      </p>
      {facts.map(
        ([words, all]) =>
          all !== '' && (
            <p key={words} class="small">
              {words}: {all}
            </p>
          ),
      )}
      {changes.length > 0 && (
        <DifferenceTable
          label={`Context after step ${number}`}
          columns={['Before', 'After']}
          found={changes}
          names={names}
        />
      )}
    </li>
  );
}

function actorsOf(ids: readonly string[], names: Names): string {
  return ids.map((id) => names.actor({ id, src: id })).join(', ');
}

function guardsOf(guards: readonly string[], names: Names): string {
  return guards.map((guard) => names.guard(guard)).join(', ');
}

function retry(state: PageState, tries: readonly Try[]): void {
  const { simulation } = state.page;
  if (simulation !== null) state.change({ simulation: { ...simulation, tries } });
}

function undo(state: PageState): void {
  const { simulation } = state.page;
  if (simulation !== null) retry(state, simulation.tries.slice(0, -1));
}

/** `u` undoes the last, `r` goes back to the start. */
function useKeys(): void {
  const { state } = usePageContext();
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (isOfBrowser(event) || isTyping(event.target)) return;
      if (event.key === 'u') undo(state);
      if (event.key === 'r') retry(state, []);
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [state]);
}
