/** Chooses and sorts connections. The choice holds in every view that shows several. */
import { CONNECTION_STATES } from '../../../machines/connection/connection.states.js';
import { StateMark } from '../parts/state-badge.js';
import { FLEET_FIELDS } from '../state/fleet.js';
import { FLEET_ORDERS, type FleetChoice, type FleetOrder } from '../state/page.js';
import { usePage, usePageContext } from '../state/page-context.js';
import { count } from '../state/times.js';
import { spaced } from '../words/entry-words.js';
import { SearchBox, SearchHints } from './search-box.js';
import type { Chosen } from './use-chosen.js';

const ORDER_WORDS: Readonly<Record<FleetOrder, string>> = {
  added: 'as added',
  name: 'by name',
  trouble: 'trouble first',
  tools: 'most tools first',
  attempt: 'most attempts first',
};

/** `isShort`: of the states, only those that are chosen. */
export function FleetFilter({
  chosen: { rows, chosen },
  isShort = false,
}: {
  chosen: Chosen;
  isShort?: boolean;
}) {
  const { state } = usePageContext();
  const { fleet, isRaw } = usePage();
  const set = (change: Partial<FleetChoice>): void => state.change({ fleet: { ...fleet, ...change } });
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.state, (counts.get(row.state) ?? 0) + 1);
  const offered = CONNECTION_STATES.filter(
    (name) => fleet.states.includes(name) || (!isShort && counts.has(name)),
  );
  return (
    <>
      <SearchBox
        label="Find a connection by what its row shows"
        placeholder="Find a connection…"
        text={fleet.text}
        fields={FLEET_FIELDS}
        onText={(text) => set({ text })}
      />
      {offered.length > 0 && (
        <div class="chips" role="group" aria-label="Show only connections in these states">
          {offered.map((name) => (
            <button
              key={name}
              type="button"
              class="chip"
              aria-pressed={fleet.states.includes(name)}
              onClick={() =>
                set({
                  states: fleet.states.includes(name)
                    ? fleet.states.filter((each) => each !== name)
                    : [...fleet.states, name],
                })
              }
            >
              <StateMark state={name} />
              {isRaw ? name : spaced(name)} <span class="chip-count">{counts.get(name) ?? 0}</span>
            </button>
          ))}
        </div>
      )}
      <label class="choice">
        <span class="sr-only">Order</span>
        <select
          value={fleet.order}
          onChange={({ currentTarget }) => set({ order: currentTarget.value as FleetOrder })}
        >
          {FLEET_ORDERS.map((order) => (
            <option key={order} value={order}>
              {ORDER_WORDS[order]}
            </option>
          ))}
        </select>
      </label>
      {(!isShort || chosen.length < rows.length) && (
        <p class="toolbar-note" role="status">
          {chosen.length === rows.length
            ? `${count(rows.length)} connections`
            : `${count(chosen.length)} of ${count(rows.length)} connections`}
        </p>
      )}
      <SearchHints
        text={fleet.text}
        fields={FLEET_FIELDS}
        lanes={rows.map(({ name }) => name)}
        onText={(text) => set({ text })}
      />
    </>
  );
}
