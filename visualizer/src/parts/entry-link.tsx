/** A button that opens an entry of the log. */
import { usePageContext } from '../state/page-context.js';
import { count } from '../state/times.js';

export function EntryLink({ position, seq }: { position: number; seq: number }) {
  const { state } = usePageContext();
  return (
    <button
      type="button"
      class="link"
      onClick={() => state.change({ view: 'events', reading: position })}
      aria-label={`Open entry ${seq}`}
    >
      {count(seq)}
    </button>
  );
}
