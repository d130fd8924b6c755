/** The calls of the log, the slowest and the failed first if wanted, and the followed one as a span. */
import { useState } from 'preact/hooks';
import { laneTitle } from '../log/lane-names.js';
import { Nothing } from '../parts/nothing.js';
import { VirtualList } from '../parts/virtual-list.js';
import { SearchBox, SearchHints } from '../search/search-box.js';
import { useAnswer, usePage, usePageContext, useTimes } from '../state/page-context.js';
import type { CallChoice } from '../state/page.js';
import { count, duration, type Times } from '../state/times.js';
import {
  CALL_FIELDS,
  CALL_GROUPS,
  CALL_ORDERS,
  isFailed,
  type CallGroup,
  type CallList,
  type CallOrder,
  type CallRow,
} from './call-views.js';
import { CallReading } from './call-reading.js';

const ROW = 34;
const MOST = 500;
const NONE: CallList = { rows: [], counts: { all: 0, failed: 0, repeated: 0, open: 0 } };
const GROUP_WORDS: Readonly<Record<CallGroup, string>> = {
  all: 'all',
  failed: 'failed',
  repeated: 'sent again',
  open: 'without an end',
};
const ORDER_WORDS: Readonly<Record<CallOrder, string>> = {
  slowest: 'slowest first',
  latest: 'latest first',
  first: 'earliest first',
};
/** In a long log, the list is made anew only after this share of it. */
const STEPS = 20_000;

export function CallsView() {
  const { state } = usePageContext();
  const { calls, selected, book, call } = usePage();
  const times = useTimes();
  const [most, setMost] = useState(MOST);
  const { isNarrow, ...choice } = calls;
  const length = book?.length ?? 0;
  const query = { ...choice, lane: isNarrow ? selected : undefined, most };
  const given = useAnswer(
    'calls',
    length === 0 ? undefined : query,
    Math.floor(length / Math.ceil(length / STEPS)),
  );
  const { rows, counts } = given?.answer ?? NONE;
  const longest = Math.max(1, ...rows.map(({ ms }) => ms));
  const isLimited = rows.length < counts[calls.group];

  function follow(index: number): void {
    const row = rows[index];
    if (row !== undefined) state.change({ call: row.number, selected: row.lane });
  }

  return (
    <section class={call === null ? 'view calls' : 'view calls is-reading'} aria-label="Calls">
      <CallFilters counts={counts} shown={rows.length} />
      <div class="events-body">
        {rows.length === 0 ? (
          <Nothing title={given === undefined && length > 0 ? 'Reading the calls…' : 'No calls'}>
            {counts.all > 0 || calls.text !== '' || isNarrow
              ? 'None fits the choice above.'
              : 'Tool calls appear here, each from its start to its outcome.'}
          </Nothing>
        ) : (
          <>
            <VirtualList
              label="Calls"
              count={rows.length}
              itemHeight={ROW}
              shown={rows.findIndex(({ number }) => number === call)}
              shownKey={String(call)}
              onMove={follow}
              item={(index) => {
                const row = rows[index];
                return row === undefined ? null : <Row {...{ row, times, longest }} />;
              }}
            />
            {isLimited && (
              <p class="more">
                <button type="button" class="link" onClick={() => setMost(most * 4)}>
                  Show more than {count(most)}
                </button>
              </p>
            )}
          </>
        )}
        {call !== null && <CallReading />}
      </div>
    </section>
  );
}

function CallFilters({ counts, shown }: { counts: CallList['counts']; shown: number }) {
  const { state } = usePageContext();
  const { calls, selected, book } = usePage();
  const set = (change: Partial<CallChoice>): void => state.change({ calls: { ...calls, ...change } });
  const search = { text: calls.text, fields: CALL_FIELDS, onText: (text: string) => set({ text }) };
  return (
    <div class="toolbar">
      <SearchBox label="Search in calls" placeholder="Search in calls…" {...search} />
      <div class="chips" role="group" aria-label="Show only these calls">
        {CALL_GROUPS.map((group) => (
          <button
            key={group}
            type="button"
            class="chip"
            aria-pressed={calls.group === group}
            onClick={() => set({ group })}
          >
            {GROUP_WORDS[group]} <span class="chip-count">{count(counts[group])}</span>
          </button>
        ))}
      </div>
      <label class="choice">
        <span class="sr-only">Order</span>
        <select
          value={calls.order}
          onChange={({ currentTarget }) => set({ order: currentTarget.value as CallOrder })}
        >
          {CALL_ORDERS.map((order) => (
            <option key={order} value={order}>
              {ORDER_WORDS[order]}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={calls.isNarrow}
          onChange={({ currentTarget }) => set({ isNarrow: currentTarget.checked })}
        />
        Only {laneTitle(selected)}
      </label>
      <p class="toolbar-note" role="status">
        {shown === counts[calls.group]
          ? `${count(shown)} ${shown === 1 ? 'call' : 'calls'}`
          : `${count(shown)} of ${count(counts[calls.group])} calls`}
      </p>
      <SearchHints {...search} lanes={book?.names ?? []} />
    </div>
  );
}

function Row({ row, times, longest }: { row: CallRow; times: Times; longest: number }) {
  const { tool, lane, from, ms, outcome, attempts } = row;
  return (
    <div class={`call-row ${toneClass(row)}`}>
      <span class="mono event-time">{times.at(from)}</span>
      <span class="event-lane">{laneTitle(lane)}</span>
      <span class="mono">{tool}</span>
      <span class="call-outcome">
        {outcome === '' ? 'no end' : outcome}
        {attempts > 1 && ` · ${attempts} attempts`}
      </span>
      <span class="number">{duration(ms)}</span>
      <span class="call-length" aria-hidden="true">
        <span style={{ width: `${Math.max(1, (ms / longest) * 100)}%` }} />
      </span>
    </div>
  );
}

export function toneClass(row: Pick<CallRow, 'outcome'>): string {
  return isFailed(row) ? 'is-failed' : row.outcome === '' ? 'is-open' : '';
}
