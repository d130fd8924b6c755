/** Takes the place of the views while there is nothing to show, and says why. */
import type { Link, Page } from '../state/page.js';
import { usePageContext } from '../state/page-context.js';
import { OpenButton } from './header.js';
import { Nothing } from '../parts/nothing.js';
import { Icon } from '../parts/icon.js';

export function Waiting({ page: { link, source } }: { page: Page }) {
  const { state } = usePageContext();
  return (
    <main class="waiting">
      <WaitingNote link={link} hasSource={source.kind !== 'none'} isFile={source.kind === 'file'} />
      {link.kind === 'idle' && (
        <div class="drop-zone">
          <Icon path="M8 11V3M5 6l3-3 3 3M3 10v3h10v-3" />
          <p>
            Drop an event log (<code>.jsonl</code>) here
          </p>
          <OpenButton />
          <p class="muted small">
            It stays on this computer. Record one with <code>troupe up --record FILE</code>.
          </p>
        </div>
      )}
      {link.kind === 'mismatch' && (
        <button type="button" class="primary" onClick={() => window.location.reload()}>
          Reload the page
        </button>
      )}
      {(link.kind === 'refused' || (link.kind === 'lost' && !link.mayReturn)) && (
        <button type="button" onClick={() => state.begin({})}>
          Open a log instead
        </button>
      )}
    </main>
  );
}

function WaitingNote(props: { link: Link; hasSource: boolean; isFile: boolean }) {
  const { link, hasSource, isFile } = props;
  switch (link.kind) {
    case 'idle':
      return (
        <Nothing title="See what your connections do">Live, with the past, or from a recorded log.</Nothing>
      );
    case 'connecting':
      return (
        <div class="nothing" role="status">
          <span class="spinner" aria-hidden="true" />
          <h2>Connecting…</h2>
          <p>Requesting the charts and the log of the running troupe.</p>
        </div>
      );
    case 'reading':
      return (
        <div class="nothing">
          <h2>Reading the log…</h2>
          <progress
            aria-label="Share of the log that was read"
            max={1}
            {...(link.share !== undefined && { value: link.share })}
          />
        </div>
      );
    case 'open':
      return (
        <div class="nothing" role="status">
          <span class="spinner" aria-hidden="true" />
          <h2>{hasSource ? 'Waiting for the first entries…' : 'Connecting…'}</h2>
          <p>Receiving the log of the running troupe.</p>
        </div>
      );
    case 'silent':
      return <Nothing title="No data is arriving">The page continues by itself.</Nothing>;
    case 'lost':
      return (
        <Nothing
          title={
            isFile ? 'The log cannot be read' : link.mayReturn ? 'Not connected' : 'The troupe has ended'
          }
        >
          {link.why} {link.mayReturn && 'It reconnects by itself.'}
        </Nothing>
      );
    case 'refused':
      return (
        <Nothing title="This address is no longer valid">
          {link.why} Open the address that the running <code>troupe</code> has printed.
        </Nothing>
      );
    case 'mismatch':
      return (
        <Nothing title="The page and the troupe have different versions">
          The troupe uses version {link.theirs} of the protocol, this page {link.ours}. Reload the page to get
          the matching version.
        </Nothing>
      );
  }
}
