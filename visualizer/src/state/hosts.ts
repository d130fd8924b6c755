/** The rows of the page of a fleet: each host, and below it its servers. */
import type { InspectedHost, InspectedServer } from '../../../src/inspector/page-protocol.js';
import { fitting, parseQuery, type PartFields, type Subject } from '../search/query.js';
import { keyIn } from './runtime.js';
import { HOST_STATES, NO_ADDRESS, OTHER_CHARTS, OTHER_VERSION } from '../words/host-words.js';
import { spaced } from '../words/entry-words.js';

export interface HostRow {
  readonly key: string;
  readonly host: InspectedHost;
  /** Undefined for the row of the host itself. */
  readonly server: InspectedServer | undefined;
  /** What most hosts have and this one does not. */
  readonly odd: readonly string[];
}

export const HOST_FIELDS = ['host', 'server', 'state', 'code', 'version'] as const;
const PARTS: PartFields = new Set(['state']);
const NO_PARTS: readonly string[] = [];

/** The rows that fit a search. A host that fits is shown with all its servers, a server that fits with its host. */
export function hostRows(hosts: readonly InspectedHost[], text: string): readonly HostRow[] {
  const query = parseQuery(text, HOST_FIELDS);
  const fits = fitting(query, HOST_FIELDS, PARTS);
  const isAll = query.terms.length === 0;
  const usual = usualOf(hosts);
  return hosts
    .toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
    .flatMap((host) => {
      const odd = oddities(host, usual);
      const isWhole = isAll || fits(subjectOf({ host, server: undefined, odd, key: '' }));
      const servers = host.servers.map((server) => ({
        key: `${host.id} ${server.server}`,
        host,
        server,
        odd: NO_PARTS,
      }));
      const shown = isWhole ? servers : servers.filter((row) => fits(subjectOf(row)));
      return isWhole || shown.length > 0 ? [{ key: host.id, host, server: undefined, odd }, ...shown] : [];
    });
}

/** The address of the page of that host; undefined if it has none. */
export function pageOf({ host, server }: HostRow, hash: string): string | undefined {
  if (host.address === undefined || host.state === 'gone') return undefined;
  const sight = server === undefined ? [] : ['view=chart', `connection=${encodeURIComponent(server.server)}`];
  // The key is in the address if the browser stores nothing.
  const fragment = [keyIn(hash), ...sight].filter((part) => part !== '').join('&');
  return `?host=${host.id}${fragment === '' ? '' : `#${fragment}`}`;
}

interface Usual {
  readonly version: string | undefined;
  readonly charts: string | undefined;
}

/** What more than half of the hosts have; undefined if there is no such value. */
function usualOf(hosts: readonly InspectedHost[]): Usual {
  const there = hosts.filter(({ state }) => state !== 'gone');
  const most = (values: readonly string[]): string | undefined =>
    [...new Set(values)].find((value) => values.filter((each) => each === value).length * 2 > values.length);
  return {
    version: most(there.map(({ version }) => version)),
    charts: most(there.map(({ charts }) => charts)),
  };
}

/** Without a majority, every host is marked. */
function oddities({ state, version, charts }: InspectedHost, usual: Usual): readonly string[] {
  if (state === 'gone') return [];
  return [
    ...(version === usual.version ? [] : [OTHER_VERSION]),
    ...(charts === usual.charts ? [] : [OTHER_CHARTS]),
  ];
}

function subjectOf({ host, server, odd }: HostRow): Subject {
  const texts =
    server === undefined
      ? [host.id, host.address ?? NO_ADDRESS, host.version, HOST_STATES[host.state], ...odd]
      : [server.server, spaced(server.state), server.code ?? ''];
  const shown = texts.join(' ').toLowerCase();
  const values: Readonly<Record<string, readonly string[]>> =
    server === undefined
      ? { host: [host.id, host.address ?? ''], state: [host.state], version: [host.version] }
      : {
          server: [server.server],
          state: [server.state, spaced(server.state)],
          code: server.code === null ? [] : [server.code],
        };
  return { shows: (word) => shown.includes(word), valuesOf: (field) => values[field] ?? [] };
}
