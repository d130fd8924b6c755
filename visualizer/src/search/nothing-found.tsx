/** In place of the entries: the search goes on, or has found none, and what else can be tried. */
import { Nothing } from '../parts/nothing.js';
import type { EventFilter } from '../state/page.js';
import { usePageContext } from '../state/page-context.js';
import { ENTRY_FIELDS } from './entry-fields.js';
import { parseQuery, termOf } from './query.js';

export function NothingFound({ share, filter }: { share: number; filter: EventFilter }) {
  const { state } = usePageContext();
  if (share < 1)
    return <Nothing title="Searching…">{`${Math.floor(share * 100)} % of the log so far.`}</Nothing>;
  const { terms } = parseQuery(filter.text, ENTRY_FIELDS);
  const words = terms.filter(({ field }) => field === undefined).map(({ value }) => termOf('json', value));
  return (
    <Nothing title="No matches">
      No entry matches the filter.{' '}
      {words.length > 0 && (
        <>
          The rows were searched, not the recorded JSON.{' '}
          <button
            type="button"
            class="link"
            onClick={() => state.change({ filter: { ...filter, text: words.join(' ') } })}
          >
            Search the JSON
          </button>{' '}
        </>
      )}
      <button
        type="button"
        class="link"
        onClick={() => state.change({ filter: { text: '', categories: [], isNarrow: false } })}
      >
        Show all
      </button>
    </Nothing>
  );
}
