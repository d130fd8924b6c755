/** The connections that the person has chosen in the fleet: for the fleet, the timeline and the sequence. */
import { useMemo } from 'preact/hooks';
import { chosenRows, fleetRows, type FleetRow } from '../state/fleet.js';
import { useMoment, usePage } from '../state/page-context.js';

/** Every connection at the shown moment. */
export function useFleet(): readonly FleetRow[] {
  const moment = useMoment();
  const { source, cursor, statuses } = usePage();
  const isNow = source.kind === 'live' && cursor === null;
  return useMemo(
    () => fleetRows(moment?.rows ?? [], isNow ? statuses : undefined),
    [moment, statuses, isNow],
  );
}

export interface Chosen {
  readonly rows: readonly FleetRow[];
  readonly chosen: readonly FleetRow[];
  /** Whether some may be left out. */
  readonly isFiltered: boolean;
  /** The lanes in the same order; all lanes of the log if nothing is chosen. */
  readonly lanes: readonly string[];
}

export function useChosen(): Chosen {
  const rows = useFleet();
  const { fleet, book } = usePage();
  const chosen = useMemo(() => chosenRows(rows, fleet), [rows, fleet]);
  const names = book?.names;
  const isFiltered = fleet.text.trim() !== '' || fleet.states.length > 0;
  const lanes = useMemo(() => {
    if (!isFiltered && fleet.order === 'added') return names ?? [];
    const first = chosen.map(({ name }) => name);
    if (isFiltered) return first;
    const listed = new Set(first);
    // Connections that do not exist at this moment, and other machines.
    return [...first, ...(names ?? []).filter((name) => !listed.has(name))];
  }, [chosen, names?.length, fleet]);
  return { rows, chosen, isFiltered, lanes };
}
