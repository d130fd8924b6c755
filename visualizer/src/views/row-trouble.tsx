/**
 * The last cell of a row of the fleet: what a person must do, the present error, or the last one if it has recovered. It has
 * no link, because the row itself is selected by a click; the details have it.
 */
import { hasTag } from '../../../machines/connection/connection.states.js';
import { serverCommand } from '../../../src/lifecycle/server-command.js';
import { laneTitle } from '../log/lane-names.js';
import type { FleetRow } from '../state/fleet.js';
import { useTimes } from '../state/page-context.js';
import { count } from '../state/times.js';

export function RowTrouble({ row }: { row: FleetRow }) {
  const { restarts } = row;
  return (
    <span class="fleet-error">
      {restarts > 0 && (
        <span class="fleet-restarts">
          {count(restarts)} restart{restarts === 1 ? '' : 's'}
        </span>
      )}
      <Trouble row={row} />
    </span>
  );
}

function Trouble({ row: { name, tags, error, lastFailure, authUrl } }: { row: FleetRow }) {
  const times = useTimes();
  if (hasTag({ tags }, 'awaitingTrust')) return <Wanted command={serverCommand('trust', laneTitle(name))} />;
  if (hasTag({ tags }, 'authorizing'))
    return authUrl === null ? (
      <Wanted command={serverCommand('login', laneTitle(name))} />
    ) : (
      <span title={authUrl}>Sign in at {authUrl}</span>
    );
  if (error !== null)
    return (
      <>
        <code>{error.code}</code> <span title={error.message}>{error.message}</span>
      </>
    );
  if (lastFailure === null) return null;
  const { at, code, message } = lastFailure;
  return (
    <span class="fleet-last" title={`Last failure, at ${times.at(at)}: ${message}`}>
      <span class="sr-only">Last failure: </span>
      {times.second(at)} <code>{code}</code> {message}
    </span>
  );
}

function Wanted({ command }: { command: string }) {
  return (
    <>
      Run <code class="fleet-command">{command}</code>
    </>
  );
}
