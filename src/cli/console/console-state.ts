/** What a person looks at: which server, which page about it, and which part of the page. Pure. */

/** `list` is the table of all servers; the others are about the selected one, or about the keys. */
export type Page = 'list' | 'details' | 'log' | 'tools' | 'help';

export interface ConsoleState {
  readonly page: Page;
  /** The page below the help. */
  readonly behind: Page;
  /** Name of the selected server; undefined before one is selected. */
  readonly server: string | undefined;
  /** Index of the first line that is shown of a page other than the list; undefined follows its end. */
  readonly top: number | undefined;
}

export type Move = 'up' | 'down' | 'pageUp' | 'pageDown' | 'first' | 'last';

/** What the moves depend on. */
export interface Extent {
  /** Names of the servers, in the order of the list. */
  readonly servers: readonly string[];
  /** The number of lines of the page. */
  readonly lines: number;
  /** The number of lines that the screen has for it. */
  readonly height: number;
}

export const AT_START: ConsoleState = { page: 'list', behind: 'list', server: undefined, top: 0 };

/** Index of the selected server: the first one if none is selected, or if it was removed; -1 if there are no servers. */
export function selectedIndex({ server }: ConsoleState, servers: readonly string[]): number {
  return servers.length === 0 ? -1 : Math.max(0, servers.indexOf(server ?? ''));
}

/** Selects another server in the list, and scrolls on the other pages. */
export function move(state: ConsoleState, by: Move, { servers, lines, height }: Extent): ConsoleState {
  const page = Math.max(1, height - 1);
  if (state.page === 'list') {
    const index = moved(selectedIndex(state, servers), by, { page, last: servers.length - 1 });
    return { ...state, server: servers[index] };
  }
  const last = Math.max(0, lines - height);
  const top = moved(Math.min(state.top ?? last, last), by, { page, last });
  return { ...state, top: state.page === 'log' && top === last ? undefined : top };
}

function moved(from: number, by: Move, { page, last }: { page: number; last: number }): number {
  const to = { up: from - 1, down: from + 1, pageUp: from - page, pageDown: from + page, first: 0, last }[by];
  return Math.max(0, Math.min(last, to));
}

/** The log begins at its end and follows it, other pages begin at their start. */
export function open(state: ConsoleState, page: Page): ConsoleState {
  if (page === state.page) return state;
  const behind = state.page === 'help' ? state.behind : state.page;
  return { ...state, page, behind, top: page === 'log' ? undefined : 0 };
}

/** From the help to the page below it, from any other page to the list. */
export function back(state: ConsoleState): ConsoleState {
  return open(state, state.page === 'help' ? state.behind : 'list');
}
