/** Two moments of the log, or two runs, and what differs between them. */
import { useEffect } from 'preact/hooks';
import { isOfBrowser, isTyping } from '../parts/browser-keys.js';
import { positionOf, type PageState } from '../state/page.js';
import { usePage, usePageContext } from '../state/page-context.js';
import type { Comparison } from './comparison.js';
import { MomentsComparison } from './moments-comparison.js';
import { RunsComparison } from './runs-comparison.js';

export function CompareView() {
  const { state } = usePageContext();
  const { comparison } = usePage();
  useKeys();
  return (
    <section class="view tool-view" aria-label="Compare">
      <div class="toolbar">
        <div class="button-group" role="group" aria-label="What is compared">
          <KindButton kind="moments" now={comparison} state={state}>
            Two moments
          </KindButton>
          <KindButton kind="runs" now={comparison} state={state}>
            Two runs
          </KindButton>
        </div>
      </div>
      {comparison.kind === 'moments' ? <MomentsComparison /> : <RunsComparison />}
    </section>
  );
}

interface KindButtonProps {
  readonly kind: Comparison['kind'];
  readonly now: Comparison;
  readonly state: PageState;
  readonly children: string;
}

function KindButton({ kind, now, state, children }: KindButtonProps) {
  return (
    <button
      type="button"
      aria-pressed={now.kind === kind}
      onClick={() => state.change({ comparison: { ...now, kind } })}
    >
      {children}
    </button>
  );
}

/** `a` and `b` take the shown moment. */
function useKeys(): void {
  const { state } = usePageContext();
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const { comparison } = state.page;
      if (isOfBrowser(event) || isTyping(event.target) || comparison.kind !== 'moments') return;
      if (event.key === 'a') state.change({ comparison: { ...comparison, from: positionOf(state.page) } });
      if (event.key === 'b') state.change({ comparison: { ...comparison, to: positionOf(state.page) } });
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [state]);
}
