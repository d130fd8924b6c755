/** Says what of a link could not be shown. */
import { visibleText } from '../../../src/text/visible-text.js';
import { usePage, usePageContext } from '../state/page-context.js';
import type { LinkProblem } from '../state/page.js';

/** Longest part of an address that is repeated, characters. */
const LONGEST = 200;

export function LinkNote() {
  const { state } = usePageContext();
  const { linkProblem } = usePage();
  if (linkProblem === null) return null;
  return (
    <p class="banner warn" role="alert">
      {wordsOf(linkProblem)}{' '}
      <button type="button" class="link" onClick={() => state.change({ linkProblem: null })}>
        Close
      </button>
    </p>
  );
}

function wordsOf(problem: LinkProblem): string {
  switch (problem.kind) {
    case 'no-key':
      return 'This link is of a running troupe, and does not contain its key. Open the address that the troupe has printed, and then this link in the same tab; or open a log, which the link then shows.';
    case 'ignored':
      return `A part of the address was not understood, and is ignored: ${visibleText(problem.parts.join(', ').slice(0, LONGEST))}`;
    case 'no-place':
      return 'This log does not contain the entry or the moment of the link. It may be of another run, or that part is no longer kept.';
  }
}
