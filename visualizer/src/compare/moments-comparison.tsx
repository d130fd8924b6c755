/** Two moments of the log. */
import { chartOf, laneTitle } from '../log/lane-names.js';
import { stateValueWords } from '../log/state-words.js';
import { DifferenceTable } from '../parts/difference-table.js';
import { EntryLink } from '../parts/entry-link.js';
import { Nothing } from '../parts/nothing.js';
import { isPast, positionOf } from '../state/page.js';
import { useAnswer, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { count } from '../state/times.js';
import { namesOf } from '../words/names.js';
import type { ComparedEntry, LaneComparison, Point } from './messages.js';

export function MomentsComparison() {
  const { state } = usePageContext();
  const page = usePage();
  const { comparison } = page;
  const shown = positionOf(page);
  const from = comparison.from ?? 0;
  const to = comparison.to ?? shown;
  const view = useAnswer('compareMoments', shown < 0 ? undefined : { from, to })?.answer;
  const take = (side: 'from' | 'to'): void => state.change({ comparison: { ...comparison, [side]: shown } });
  if (view === undefined)
    return (
      <p class="loading" role="status">
        Comparing…
      </p>
    );
  return (
    <>
      <div class="toolbar">
        <Side name="A" point={view.from} isShown={false} take={() => take('from')} />
        <Side
          name="B"
          point={view.to}
          isShown={comparison.to === null}
          take={() => take('to')}
          {...(comparison.to !== null && {
            follow: () => state.change({ comparison: { ...comparison, to: null } }),
          })}
        />
        <button
          type="button"
          onClick={() => state.change({ comparison: { ...comparison, from: to, to: from } })}
        >
          Swap
        </button>
        <p class="toolbar-note" role="status">
          {count(view.lanes.length)} of {count(view.lanes.length + view.equal)} differ
          {comparison.to === null && !isPast(page) && ' · B is the end of the log: move the slider'}
        </p>
      </div>
      <div class="tool-scroll">
        {view.lanes.length === 0 && (
          <Nothing title="No difference">Both moments have the same states and contexts.</Nothing>
        )}
        {view.lanes.map((lane) => (
          <Lane key={lane.name} lane={lane} />
        ))}
      </div>
    </>
  );
}

interface SideProps {
  readonly name: string;
  readonly point: Point;
  /** It is the moment that is shown, and moves with it. */
  readonly isShown: boolean;
  readonly take: () => void;
  /** Makes it the moment that is shown. */
  readonly follow?: () => void;
}

function Side({ name, point, isShown, take, follow }: SideProps) {
  const times = useTimes();
  return (
    <div class="compare-side" role="group" aria-label={`Moment ${name}`}>
      <strong>{name}</strong>
      <span class="mono">{times.at(point.at)}</span>
      <span class="muted">
        entry {count(point.seq)}
        {isShown && ', shown'}
      </span>
      <button
        type="button"
        title={`The moment that is shown becomes ${name} (${name.toLowerCase()})`}
        onClick={take}
      >
        Set {name} here
      </button>
      {follow !== undefined && (
        <button type="button" title="The moment that is shown, as the slider moves" onClick={follow}>
          Follow the slider
        </button>
      )}
    </div>
  );
}

function Lane({ lane }: { lane: LaneComparison }) {
  const { name, states, changes, entries, count: total } = lane;
  const { isRaw } = usePage();
  const names = namesOf(chartOf(name), isRaw);
  const [before, after] = states.map((state) =>
    state === null ? undefined : stateValueWords(name, state, isRaw),
  );
  const title = laneTitle(name);
  return (
    <section class="compared" aria-label={title} data-name={name}>
      <h2>{title}</h2>
      <p class="compared-states">
        {before === after ? (
          <span class="muted">{before}</span>
        ) : (
          <>
            <span class="diff-before">{before ?? 'not there yet'}</span> →{' '}
            <span class="diff-after">{after ?? 'not there'}</span>
          </>
        )}
      </p>
      {changes.length > 0 && (
        <DifferenceTable label={`Context of ${title}`} columns={['A', 'B']} found={changes} names={names} />
      )}
      {entries.length > 0 && <Entries lane={name} entries={entries} total={total} />}
    </section>
  );
}

interface EntriesProps {
  readonly lane: string;
  readonly entries: readonly ComparedEntry[];
  readonly total: number;
}

function Entries({ lane, entries, total }: EntriesProps) {
  const { isRaw } = usePage();
  const names = namesOf(chartOf(lane), isRaw);
  const times = useTimes();
  return (
    <div
      class="diff-scroll"
      tabIndex={0}
      role="group"
      aria-label={`Entries of ${laneTitle(lane)} in between`}
    >
      <table class="diff">
        <thead>
          <tr>
            <th scope="col">Entry</th>
            <th scope="col">Time</th>
            <th scope="col">Event</th>
            <th scope="col">State after it</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ position, seq, at, type, state }) => (
            <tr key={position}>
              <td>
                <EntryLink position={position} seq={seq} />
              </td>
              <td class="mono">{times.at(at)}</td>
              <td title={type}>{names.event(type)}</td>
              <td>{stateValueWords(lane, state, isRaw)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > entries.length && <p class="muted">and {count(total - entries.length)} more</p>}
    </div>
  );
}
