/** Every entry of the log, and the details of the open one. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import type { EntryLine, EntryView } from '../log/desk-messages.js';
import { CopyAsTest } from '../fixture/copy-as-test.js';
import { CATEGORIES } from '../log/labels.js';
import { chartOf, laneTitle, MANAGER_LANE } from '../log/lane-names.js';
import { stateValueWords } from '../log/state-words.js';
import { OfCall } from '../calls/of-call.js';
import { useFollowed } from '../calls/use-followed.js';
import { DifferenceTable } from '../parts/difference-table.js';
import { JsonTree } from '../parts/json-tree.js';
import { VirtualList } from '../parts/virtual-list.js';
import { ENTRY_FIELDS } from '../search/entry-fields.js';
import { NothingFound } from '../search/nothing-found.js';
import { rowTextOf } from '../search/row-text.js';
import { SearchBox, SearchHints } from '../search/search-box.js';
import { useFound } from '../search/use-found.js';
import { differences, type Difference } from '../state/difference.js';
import { look, positionOf, type EventFilter } from '../state/page.js';
import { useAnswer, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { count, fullTime, type Times } from '../state/times.js';
import { Nothing } from '../parts/nothing.js';
import { rowHeight } from '../parts/media.js';
import { CATEGORY_WORDS } from '../words/entry-words.js';
import { namesOf, type Names } from '../words/names.js';

const ROW = rowHeight(34);

export function EventsView() {
  const { state } = usePageContext();
  const page = usePage();
  const { filter, book, selected, reading, cursor } = page;
  const times = useTimes();
  const [range, setRange] = useState<readonly [number, number]>([0, 40]);
  const isOpen = filter.text === '' && filter.categories.length === 0 && !filter.isNarrow;
  const length = book?.length ?? 0;
  const query = {
    lane: filter.isNarrow ? selected : undefined,
    categories: filter.categories.length === 0 ? undefined : filter.categories,
    text: filter.text === '' ? undefined : filter.text,
  };
  const { found, share } = useFound(isOpen || length === 0 ? undefined : query, length);
  const followed = useFollowed();
  const total = isOpen ? length : (found?.length ?? 0);
  const positionAt = (index: number): number => (isOpen ? index : (found?.[index] ?? -1));
  const positions = useMemo(() => {
    const wanted: number[] = [];
    for (let index = range[0]; index <= Math.min(total - 1, range[1]); index += 1)
      wanted.push(positionAt(index));
    return wanted;
  }, [range, total, found, isOpen]);
  const lines = useAnswer('lines', positions.length === 0 ? undefined : { positions })?.answer ?? [];
  const byPosition = new Map(lines.map((line) => [line.position, line]));
  const shownPosition = reading ?? positionOf(page);
  const shown = useMemo(() => {
    if (isOpen) return shownPosition;
    if (found === undefined) return -1;
    const after = found.findIndex((position) => position >= shownPosition);
    return after === -1 ? found.length - 1 : after;
  }, [shownPosition, found, isOpen]);

  function read(index: number): void {
    const position = positionAt(index);
    if (position >= 0) state.change({ reading: position });
  }

  return (
    <section class={reading === null ? 'view events' : 'view events is-reading'} aria-label="Events">
      <Filters {...{ filter, total, length, selected, share }} />
      <div class="events-body">
        {total === 0 ? (
          length === 0 ? (
            <Nothing title="No entries yet">Events of the machines appear here.</Nothing>
          ) : (
            <NothingFound share={share} filter={filter} />
          )
        ) : (
          <VirtualList
            label="Entries of the log"
            count={total}
            itemHeight={ROW}
            shown={reading === null && cursor === null ? -1 : shown}
            staysAtEnd={reading === null && cursor === null}
            isChosen={(index) => positionAt(index) === reading}
            isThere={(index) => byPosition.has(positionAt(index))}
            onMove={read}
            onRange={(first, last) => setRange([first, last])}
            item={(index) => {
              const line = byPosition.get(positionAt(index));
              return line === undefined ? (
                <div class="event-row loading-row" />
              ) : (
                <EventRow line={line} times={times} isOfCall={followed.positions.has(line.position)} />
              );
            }}
          />
        )}
        {reading !== null && <Reading position={reading} />}
      </div>
    </section>
  );
}

interface FiltersProps {
  readonly filter: EventFilter;
  readonly total: number;
  readonly length: number;
  readonly selected: string;
  readonly share: number;
}

function Filters({ filter, total, length, selected, share }: FiltersProps) {
  const { state } = usePageContext();
  const { book } = usePage();
  const set = (change: Partial<EventFilter>): void => state.change({ filter: { ...filter, ...change } });
  const search = { text: filter.text, fields: ENTRY_FIELDS, onText: (text: string) => set({ text }) };
  return (
    <div class="toolbar">
      <SearchBox label="Search in entries" placeholder="Search in entries…" {...search} />
      <div class="chips" role="group" aria-label="Show only entries of these kinds">
        {CATEGORIES.map((category) => (
          <button
            key={category}
            type="button"
            class={`chip kind-${category}`}
            aria-pressed={filter.categories.includes(category)}
            onClick={() =>
              set({
                categories: filter.categories.includes(category)
                  ? filter.categories.filter((each) => each !== category)
                  : [...filter.categories, category],
              })
            }
          >
            {CATEGORY_WORDS[category]}
          </button>
        ))}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={filter.isNarrow}
          onChange={({ currentTarget }) => set({ isNarrow: currentTarget.checked })}
        />
        Only {laneTitle(selected)}
      </label>
      <p class="toolbar-note" role="status">
        {total === length ? `${count(length)} entries` : `${count(total)} of ${count(length)} entries`}
        {share < 1 && ` · searching, ${Math.floor(share * 100)} %`}
      </p>
      <SearchHints {...search} lanes={book?.names ?? []} />
    </div>
  );
}

function EventRow({ line, times, isOfCall }: { line: EntryLine; times: Times; isOfCall: boolean }) {
  const { isRaw } = usePage();
  const { at, category, seq, type } = line;
  const { kind, lane, event, words } = rowTextOf(line, isRaw);
  const time = times.at(at);
  return (
    <div class={`event-row kind-${category}${isOfCall ? ' of-call' : ''}`} data-seq={seq}>
      <span class="mono event-time" title={fullTime(at)}>
        {time.slice(0, -4)}
        <span class="event-ms">{time.slice(-4)}</span>
      </span>
      <span class="event-kind">{kind}</span>
      <span class="event-lane">{lane}</span>
      <span class={isRaw ? 'event-type mono' : 'event-type'} title={type}>
        {event}
      </span>
      <span class="event-words">{words}</span>
    </div>
  );
}

function Reading({ position }: { position: number }) {
  const { state } = usePageContext();
  const { book, selected, isRaw } = usePage();
  const entry = useAnswer('entry', { position })?.answer;
  const lane = entry?.position === position ? entry.lane : undefined;
  useEffect(() => {
    if (lane !== undefined && lane !== selected) state.change({ selected: lane, reading: position });
  }, [lane, position]);
  if (entry === undefined || entry.position !== position)
    return (
      <aside class="reading" aria-label="Entry">
        <p class="loading" role="status">
          Reading the entry…
        </p>
      </aside>
    );
  const names = namesOf(chartOf(entry.lane ?? MANAGER_LANE), isRaw);
  return (
    <aside class="reading" aria-label="Entry">
      <header class="reading-head">
        <h2>
          Entry {count(entry.seq)}
          <small class={`kind-${entry.category}`} title={entry.type}>
            {' '}
            {names.event(entry.type) || entry.kind}
          </small>
        </h2>
        <button
          type="button"
          onClick={() => {
            look(state, position, book?.length ?? 0);
            state.change({
              view: 'chart',
              chart: null,
              ...(entry.lane !== undefined && { selected: entry.lane }),
            });
          }}
        >
          Show in chart
        </button>
        <button type="button" onClick={() => look(state, position, book?.length ?? 0)}>
          Go to this moment
        </button>
        <CopyAsTest key={position} position={position} />
        <button
          type="button"
          class="icon"
          aria-label="Close the entry"
          onClick={() => {
            state.change({ reading: null });
            document.querySelector<HTMLElement>('.events .virtual-list')?.focus();
          }}
        >
          ✕
        </button>
      </header>
      <div class="reading-body">
        {entry.category === 'rejection' && <p class="note bad">{entry.words}</p>}
        <OfCall entry={entry} />
        <Changes entry={entry} names={names} />
        <h3>As recorded in the log</h3>
        <JsonTree value={entry.json} isDeep={entry.kind === 'note'} names={names} />
      </div>
    </aside>
  );
}

function Changes({ entry, names }: { entry: EntryView; names: Names }) {
  const { before, after, lane = MANAGER_LANE } = entry;
  if (after === undefined) return <p class="muted">A note, which changed nothing.</p>;
  const found = changesOf(before, after, (state) => stateValueWords(lane, state, names.isRaw));
  return (
    <>
      <h3>Changes</h3>
      {found.length === 0 ? (
        <p class="muted">None: state and context are unchanged.</p>
      ) : (
        <DifferenceTable label="Changes" columns={['Before', 'After']} found={found} names={names} />
      )}
    </>
  );
}

/** The state as one row, and every field of the context. */
function changesOf(
  before: FoldedState | undefined,
  after: FoldedState,
  words: (state: FoldedState['state']) => string,
): readonly Difference[] {
  const states = [before?.state, after.state].map((state) =>
    state === undefined ? undefined : words(state),
  );
  return [
    ...differences(states[0], states[1], 'state'),
    ...differences(before?.status, after.status, 'status'),
    ...differences(before?.context ?? {}, after.context),
  ];
}
