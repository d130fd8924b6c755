/** Every entry of the log, and the details of the open one. */
import { useMemo, useState } from 'preact/hooks';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import type { EntryLine, EntryView } from '../log/desk-messages.js';
import { CATEGORIES } from '../log/labels.js';
import { chartOf, laneTitle, MANAGER_LANE } from '../log/lane-names.js';
import { stateValueWords } from '../log/state-words.js';
import { JsonTree, JsonValue } from '../parts/json-tree.js';
import { VirtualList } from '../parts/virtual-list.js';
import { differences, type Difference } from '../state/difference.js';
import { look, positionOf, type EventFilter } from '../state/page.js';
import { useAnswer, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { count, fullTime, type Times } from '../state/times.js';
import { Nothing } from '../parts/nothing.js';
import { rowHeight } from '../parts/media.js';
import { CATEGORY_WORDS, kindWords } from '../words/entry-words.js';
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
  const found = useAnswer('find', isOpen || length === 0 ? undefined : query, length)?.answer;
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
      <Filters filter={filter} total={total} length={length} selected={selected} />
      <div class="events-body">
        {total === 0 ? (
          length === 0 ? (
            <Nothing title="No entries yet">Events of the machines appear here.</Nothing>
          ) : (
            <Nothing title={found === undefined && !isOpen ? 'Searching…' : 'No matches'}>
              {found === undefined && !isOpen ? 'Searching the log.' : 'No entry matches the filter.'}
            </Nothing>
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
                <EventRow line={line} times={times} />
              );
            }}
          />
        )}
        {reading !== null && <Reading position={reading} />}
      </div>
    </section>
  );
}

function Filters(props: { filter: EventFilter; total: number; length: number; selected: string }) {
  const { filter, total, length, selected } = props;
  const { state } = usePageContext();
  const set = (change: Partial<EventFilter>): void => state.change({ filter: { ...filter, ...change } });
  return (
    <div class="toolbar">
      <label class="search">
        <span class="sr-only">Search in entries</span>
        <input
          type="search"
          placeholder="Search in entries…"
          value={filter.text}
          onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        />
      </label>
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
      </p>
    </div>
  );
}

/** The names of the machine that an entry is about. */
function useNamesOf({ lane, kind }: EntryLine): Names {
  const { isRaw } = usePage();
  return namesOf(kind === 'note' || lane === undefined ? 'note' : chartOf(lane), isRaw);
}

function EventRow({ line, times }: { line: EntryLine; times: Times }) {
  const names = useNamesOf(line);
  const { at, category, kind, type, lane, words, seq } = line;
  const time = times.at(at);
  return (
    <div class={`event-row kind-${category}`} data-seq={seq}>
      <span class="mono event-time" title={fullTime(at)}>
        {time.slice(0, -4)}
        <span class="event-ms">{time.slice(-4)}</span>
      </span>
      <span class="event-kind">{names.isRaw ? kind : kindWords(category, kind)}</span>
      <span class="event-lane">{lane === undefined ? '' : laneTitle(lane)}</span>
      <span class={names.isRaw ? 'event-type mono' : 'event-type'} title={type}>
        {names.event(type) || kind}
      </span>
      <span class="event-words">{words}</span>
    </div>
  );
}

function Reading({ position }: { position: number }) {
  const { state } = usePageContext();
  const { book, isRaw } = usePage();
  const entry = useAnswer('entry', { position })?.answer;
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
        <Changes entry={entry} names={names} />
        <h3>As recorded in the log</h3>
        <JsonTree value={entry.json} names={names} />
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
        <div class="diff-scroll" tabIndex={0} role="group" aria-label="Changes">
          <table class="diff">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Before</th>
                <th scope="col">After</th>
              </tr>
            </thead>
            <tbody>
              {found.map(({ path, before: was, after: is }) => (
                <tr key={path}>
                  <th scope="row" class={names.isRaw ? 'mono' : ''} title={path}>
                    {names.path(path)}
                  </th>
                  <td class="diff-before">
                    <Shown name={path} value={was} names={names} />
                  </td>
                  <td class="diff-after">
                    <Shown name={path} value={is} names={names} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
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

function Shown({ name, value, names }: { name: string; value: unknown; names: Names }) {
  return typeof value === 'object' && value !== null ? (
    <JsonTree value={value} isOpen={false} names={names} />
  ) : (
    <JsonValue name={name.split('.').at(-1)} value={value} names={names} />
  );
}
