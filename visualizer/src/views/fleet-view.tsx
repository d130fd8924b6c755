/** Every connection in one list, with its state and what comes next. */
import { useMemo, useState } from 'preact/hooks';
import { CONNECTION_STATES, hasTag } from '../../../machines/connection/connection.states.js';
import { StateBadge, StateMark } from '../parts/state-badge.js';
import { stateWords } from '../log/state-words.js';
import { VirtualList } from '../parts/virtual-list.js';
import { chosenRows, fleetRows, type FleetRow } from '../state/fleet.js';
import { useMoment, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { useNow } from '../state/tick.js';
import { count, countdown } from '../state/times.js';
import { Nothing } from '../parts/nothing.js';
import { rowHeight } from '../parts/media.js';
import { spaced } from '../words/entry-words.js';
import { RowTrouble } from './row-trouble.js';

const ROW = rowHeight(52);

export function useFleet(): readonly FleetRow[] {
  const moment = useMoment();
  const { source, cursor, statuses } = usePage();
  const isNow = source.kind === 'live' && cursor === null;
  return useMemo(
    () => fleetRows(moment?.rows ?? [], isNow ? statuses : undefined),
    [moment, statuses, isNow],
  );
}

export function FleetView() {
  const { state } = usePageContext();
  const { selected, source, isRaw } = usePage();
  const rows = useFleet();
  const [text, setText] = useState('');
  const [states, setStates] = useState<ReadonlySet<string>>(new Set());
  const chosen = useMemo(() => chosenRows(rows, text, states), [rows, text, states]);
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.state, (counts.get(row.state) ?? 0) + 1);

  function toggle(name: string): void {
    const next = new Set(states);
    if (!next.delete(name)) next.add(name);
    setStates(next);
  }

  return (
    <section class="view fleet" aria-label="Fleet">
      <div class="toolbar">
        <label class="search">
          <span class="sr-only">Find a connection by name or error</span>
          <input
            type="search"
            placeholder="Find a connection…"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="chips" role="group" aria-label="Show only connections in these states">
          {CONNECTION_STATES.filter((name) => counts.has(name) || states.has(name)).map((name) => (
            <button
              key={name}
              type="button"
              class="chip"
              aria-pressed={states.has(name)}
              onClick={() => toggle(name)}
            >
              <StateMark state={name} />
              {isRaw ? name : spaced(name)} <span class="chip-count">{counts.get(name) ?? 0}</span>
            </button>
          ))}
        </div>
        <p class="toolbar-note" role="status">
          {chosen.length === rows.length
            ? `${count(rows.length)} connections`
            : `${count(chosen.length)} of ${count(rows.length)} connections`}
        </p>
      </div>
      <div class="fleet-head" aria-hidden="true">
        <span>Connection</span>
        <span>State</span>
        <span class="number">Tools</span>
        <span class="number">Attempt</span>
        <span>Next try</span>
        <span>Trouble</span>
      </div>
      {rows.length === 0 ? (
        <Nothing title={source.kind === 'live' ? 'No connections yet' : 'No connections'}>
          {source.kind === 'live'
            ? 'They appear here when the troupe adds them.'
            : 'There are none at this moment of the log.'}
        </Nothing>
      ) : chosen.length === 0 ? (
        <Nothing title="No matches">
          No connection matches the search.{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              setText('');
              setStates(new Set());
            }}
          >
            Show all
          </button>
        </Nothing>
      ) : (
        <VirtualList
          label="Connections"
          count={chosen.length}
          itemHeight={ROW}
          shown={chosen.findIndex(({ name }) => name === selected)}
          shownKey={selected}
          onMove={(index) => state.change({ selected: chosen[index]?.name ?? '' })}
          onOpen={(index) =>
            state.change({ selected: chosen[index]?.name ?? '', view: 'chart', chart: null })
          }
          item={(index) => {
            const row = chosen[index];
            return row === undefined ? null : <Row row={row} />;
          }}
        />
      )}
    </section>
  );
}

function Row({ row }: { row: FleetRow }) {
  const { isRaw } = usePage();
  const { name, state, transport, tools, attempt, maxAttempts } = row;
  return (
    <div class="fleet-row">
      <span class="fleet-name">
        <strong title={name}>{name}</strong>
        <small>{transport}</small>
      </span>
      <StateBadge
        state={row.state}
        words={stateWords(name, row, isRaw)}
        isWaiting={hasTag(row, 'waitingForPerson')}
      />
      <span class="number" title="Tools">
        <span class="sr-only">Tools: </span>
        {tools}
      </span>
      <span class="number" title="Attempt">
        <span class="sr-only">Attempt: </span>
        {attempt === 0 || state === 'ready' ? '–' : `${attempt}/${maxAttempts}`}
      </span>
      <span class="fleet-next">
        <NextTry at={row.nextAttemptAt} />
      </span>
      <RowTrouble row={row} />
    </div>
  );
}

/** Counts down. In the past, and if the outcome is unknown, shows the planned time. */
export function NextTry({ at }: { at: number | null }) {
  const { cursor, source, link } = usePage();
  const times = useTimes();
  const isCounting = at !== null && cursor === null && source.kind === 'live' && link.kind === 'open';
  const now = useNow(isCounting);
  if (at === null) return <span aria-hidden="true">–</span>;
  if (!isCounting) return <span>at {times.second(at)}</span>;
  const left = at - now;
  return <span class="countdown">{left <= 0 ? 'now' : `in ${countdown(left)}`}</span>;
}
