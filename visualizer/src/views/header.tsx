/** The source of the content, its time, and actions on the whole of it. */
import { useRef, useState } from 'preact/hooks';
import { ownTemplate } from '../state/own-file.js';
import { switchNaming } from '../state/naming.js';
import { keyIn } from '../state/runtime.js';
import { isPast, type Page } from '../state/page.js';
import { useMoment, usePage, usePageContext, useTimes } from '../state/page-context.js';
import { nextTheme, themeNow, type Theme } from '../state/theme.js';
import { dayText, duration } from '../state/times.js';
import { Icon } from '../parts/icon.js';

export function Header() {
  const page = usePage();
  const { host } = usePageContext();
  const { source, hello, book } = page;
  const title = source.kind === 'none' ? '' : source.title;
  return (
    <header class="header">
      <h1 class="brand">
        <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
          <circle cx="6" cy="7" r="3.2" class="brand-a" />
          <circle cx="18" cy="7" r="3.2" class="brand-b" />
          <circle cx="12" cy="17.5" r="3.2" class="brand-c" />
          <path d="M9 8.5l2 5.6M15 8.5l-2 5.6M9.4 7h5.2" class="brand-line" />
        </svg>
        Troupe
      </h1>
      {title !== '' && (
        <p class="source" title={book?.writtenBy ?? hello?.package.version ?? ''}>
          {title}
        </p>
      )}
      {host !== undefined && (
        <a class="all-hosts" href={`${window.location.pathname}${keyOnly(window.location.hash)}`}>
          All hosts
        </a>
      )}
      <When page={page} />
      <div class="header-actions">
        <OpenButton />
        <ShareButton />
        <NamesButton />
        <KeysButton />
        <ThemeButton />
      </div>
    </header>
  );
}

/** The key is in the address if the browser stores nothing. */
function keyOnly(hash: string): string {
  const key = keyIn(hash);
  return key === '' ? '' : `#${key}`;
}

/** Whether the present is shown. */
function When({ page }: { page: Page }) {
  const { state } = usePageContext();
  const { source, link, book } = page;
  const moment = useMoment();
  const times = useTimes();
  if (source.kind === 'none' || book === undefined || book.length === 0) return null;
  if (isPast(page)) {
    const at = moment?.at ?? book.lastAt;
    return (
      <p class="when past" role="status">
        <span class="when-word">Past</span>
        <span class="mono">{times.at(at)}</span>
        <button type="button" class="link" onClick={() => state.change({ cursor: null })}>
          {source.kind === 'live' ? 'Back to live' : 'To the end'}
        </button>
      </p>
    );
  }
  if (source.kind === 'file')
    return (
      <p class="when recorded" role="status">
        <span class="when-word">
          {book.isGrowing ? 'Following' : book.isWhole || book.problem !== null ? 'Recorded' : 'Reading…'}
        </span>{' '}
        {dayText(book.firstAt, true)} · {duration(book.lastAt - book.firstAt)}
      </p>
    );
  if (link.kind === 'open')
    return (
      <p class="when live" role="status">
        <span class="when-word">Live</span>
      </p>
    );
  return (
    <p class="when lost" role="status">
      <span class="when-word">{link.kind === 'silent' ? 'Silent' : 'Disconnected'}</span>
      {link.kind === 'silent' && <span class="mono">since {times.second(link.since)}</span>}
    </p>
  );
}

export function OpenButton() {
  const { open } = usePageContext();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Open a log
      </button>
      <input
        ref={input}
        type="file"
        accept=".jsonl,.ndjson,.json,.gz"
        multiple
        class="sr-only"
        tabIndex={-1}
        aria-label="Log file"
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          if (files.length > 0) open(files);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

function ShareButton() {
  const { log } = usePageContext();
  const { book } = usePage();
  const [trouble, setTrouble] = useState('');
  if (book === undefined || book.length === 0) return null;
  async function share(): Promise<void> {
    try {
      download(await log.ask('share', { template: await ownTemplate() }), 'troupe.html');
      setTrouble('');
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : 'The export failed.');
    }
  }
  return (
    <>
      <button type="button" title="One HTML file with this page and the log" onClick={() => void share()}>
        Export
      </button>
      {trouble !== '' && (
        <span role="alert" class="small bad-words">
          {trouble}
        </span>
      )}
    </>
  );
}

function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function NamesButton() {
  const { state } = usePageContext();
  const { isRaw } = usePage();
  return (
    <button
      type="button"
      class="icon names-button"
      aria-label="Raw names"
      aria-pressed={isRaw}
      title="The names in charts and logs, instead of words (n)"
      onClick={() => switchNaming(state)}
    >
      <Icon path="M5 4L1.5 8 5 12M11 4l3.5 4-3.5 4M9.2 3L6.8 13" /> <span>Raw names</span>
    </button>
  );
}

function KeysButton() {
  const { state } = usePageContext();
  return (
    <button
      type="button"
      class="icon keys-button"
      aria-label="Keys"
      title="Keys (?)"
      onClick={() => state.change({ hasKeysHelp: true })}
    >
      ?
    </button>
  );
}

const THEME_WORDS: Readonly<Record<Theme, string>> = {
  system: 'same as the system',
  light: 'light',
  dark: 'dark',
};

function ThemeButton() {
  const [theme, setTheme] = useState(themeNow);
  return (
    <button
      type="button"
      class="icon"
      aria-label={`Colors: ${THEME_WORDS[theme]}`}
      title={`Colors: ${THEME_WORDS[theme]}`}
      onClick={() => setTheme(nextTheme())}
    >
      <Icon
        path={
          theme === 'system'
            ? 'M2 3h12v8H2zM6 14h4M8 11v3'
            : theme === 'light'
              ? 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M13 3l-1.5 1.5M4.5 11.5L3 13'
              : 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z'
        }
      />
    </button>
  );
}
