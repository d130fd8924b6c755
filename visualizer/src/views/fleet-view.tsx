/** Every connection in one list, with its state and what comes next. */
import { hasTag } from '../../../machines/connection/connection.states.js';
import { StateBadge } from '../parts/state-badge.js';
import { laneTitle } from '../log/lane-names.js';
import { stateWords } from '../log/state-words.js';
import { VirtualList } from '../parts/virtual-list.js';
import { FleetFilter } from '../search/fleet-filter.js';
import { useChosen } from '../search/use-chosen.js';
import type { FleetRow } from '../state/fleet.js';
import { usePage, usePageContext, useTimes } from '../state/page-context.js';
import { useNow } from '../state/tick.js';
import { countdown } from '../state/times.js';
import { Nothing } from '../parts/nothing.js';
import { rowHeight } from '../parts/media.js';
import { RowTrouble } from './row-trouble.js';

const ROW = rowHeight(52);

export function FleetView() {
  const { state } = usePageContext();
  const { selected, source, fleet } = usePage();
  const found = useChosen();
  const { rows, chosen } = found;

  return (
    <section class="view fleet" aria-label="Fleet">
      <div class="toolbar">
        <FleetFilter chosen={found} />
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
            onClick={() => state.change({ fleet: { ...fleet, text: '', states: [] } })}
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
        <strong title={laneTitle(name)}>{laneTitle(name)}</strong>
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
