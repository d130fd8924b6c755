/** All hosts of a fleet in one list, each with its servers. A host opens as its own live page. */
import { useMemo, useState } from 'preact/hooks';
import { CONNECTION_STATES } from '../../../machines/connection/connection.states.js';
import type { InspectedHost, InspectedServer } from '../../../src/inspector/page-protocol.js';
import { Nothing } from '../parts/nothing.js';
import { rowHeight } from '../parts/media.js';
import { StateBadge } from '../parts/state-badge.js';
import { VirtualList } from '../parts/virtual-list.js';
import { SearchBox, SearchHints } from '../search/search-box.js';
import { HOST_FIELDS, hostRows, pageOf, type HostRow } from '../state/hosts.js';
import { usePage } from '../state/page-context.js';
import { useNow } from '../state/tick.js';
import { count, countdown } from '../state/times.js';
import { spaced } from '../words/entry-words.js';
import { HOST_MEANINGS, HOST_STATES, NO_ADDRESS } from '../words/host-words.js';

const ROW = rowHeight(48);
/** The tone of a host: the tone of a connection's state with the same meaning. */
const LIKE: Readonly<Record<InspectedHost['state'], string>> = {
  up: 'ready',
  draining: 'reconnecting',
  gone: 'stopped',
};

export function HostsView() {
  const { hosts } = usePage();
  const [text, setText] = useState('');
  const [shown, setShown] = useState('');
  const rows = useMemo(() => hostRows(hosts ?? [], text), [hosts, text]);
  const open = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    setShown(row.key);
    const address = pageOf(row, window.location.hash);
    if (address !== undefined) window.location.assign(address);
  };
  return (
    <main class="content">
      <section class="view hosts" aria-label="Hosts">
        <div class="toolbar">
          <SearchBox
            label="Find a host or a server by what its row shows"
            placeholder="Find a host or a server…"
            text={text}
            fields={HOST_FIELDS}
            onText={setText}
          />
          <p class="toolbar-note" role="status">
            {summary(hosts ?? [])}
          </p>
          <SearchHints text={text} fields={HOST_FIELDS} lanes={[]} onText={setText} />
        </div>
        {rows.length > 0 ? (
          <VirtualList
            label="Hosts and their servers"
            count={rows.length}
            itemHeight={ROW}
            shown={rows.findIndex(({ key }) => key === shown)}
            shownKey={shown}
            onMove={(index) => setShown(rows[index]?.key ?? '')}
            onPick={open}
            item={(index) => {
              const row = rows[index];
              if (row === undefined) return null;
              return row.server === undefined ? <Host row={row} /> : <Server server={row.server} />;
            }}
          />
        ) : hosts === undefined || hosts.length === 0 ? (
          <Nothing title="No hosts">
            They appear here within five seconds after they have started with this engine and this key.
          </Nothing>
        ) : (
          <Nothing title="No matches">
            No host and no server matches the search.{' '}
            <button type="button" class="link" onClick={() => setText('')}>
              Show all
            </button>
          </Nothing>
        )}
      </section>
    </main>
  );
}

function summary(hosts: readonly InspectedHost[]): string {
  const there = hosts.filter(({ state }) => state !== 'gone');
  const servers = there.reduce((sum, host) => sum + serversOf(host), 0);
  const gone = hosts.length - there.length;
  return `${count(there.length)} hosts, ${count(servers)} servers${gone === 0 ? '' : `, ${count(gone)} gone`}`;
}

function serversOf({ counts }: InspectedHost): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

function Host({ row: { host, odd } }: { row: HostRow }) {
  const { id, address, version, charts, state, counts } = host;
  const present = CONNECTION_STATES.filter((name) => counts[name] > 0);
  return (
    <div class={state === 'gone' ? 'host-row is-gone' : 'host-row'}>
      <span class="fleet-name">
        <strong title={id}>{id}</strong>
        <small>{address ?? NO_ADDRESS}</small>
      </span>
      <span title={HOST_MEANINGS[state]}>
        <StateBadge state={LIKE[state]} words={HOST_STATES[state]} />
      </span>
      <span class="host-counts">
        {state === 'gone'
          ? ''
          : present.map((name) => `${count(counts[name])} ${spaced(name)}`).join(', ') || 'no servers'}
      </span>
      <span class="host-version" title={`Charts: ${charts}`}>
        {version}{' '}
        {odd.map((each) => (
          <span key={each} class="tag odd">
            {each}
          </span>
        ))}
      </span>
    </div>
  );
}

function Server({ server: { server, state, since, code, restarts } }: { server: InspectedServer }) {
  const now = useNow(since !== null);
  return (
    <div class="host-row server-row">
      <span class="fleet-name">
        <span>{server}</span>
      </span>
      <StateBadge state={state} words={spaced(state)} />
      <span class="host-counts">
        {[
          since === null ? [] : `for ${countdown(Math.max(0, now - since))}`,
          restarts === 0 ? [] : `${count(restarts)} restarts`,
        ]
          .flat()
          .join(', ')}
      </span>
      <span class="fleet-error">{code !== null && <code>{code}</code>}</span>
    </div>
  );
}
