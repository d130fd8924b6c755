/** Provides the state of the page and the log to the components. */
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Layouts } from '../chart/layouts.js';
import type { MomentView, Question, Questions } from '../log/desk-messages.js';
import type { LogClient } from '../worker/log-client.js';
import { positionOf, type Page, type PageState } from './page.js';
import type { Runtime } from './runtime.js';
import { Times } from './times.js';
import { namesOf, type Names } from '../words/names.js';

export interface PageContext {
  readonly state: PageState;
  readonly log: LogClient;
  readonly layouts: Layouts;
  readonly runtime: Runtime | undefined;
  /** The host of a fleet that the page shows; undefined for anything else. */
  readonly host: string | undefined;
  readonly open: (files: readonly File[]) => void;
}

const Given = createContext<PageContext | undefined>(undefined);

export function PageContextProvider({
  pageContext,
  children,
}: {
  pageContext: PageContext;
  children: ComponentChildren;
}) {
  return <Given.Provider value={pageContext}>{children}</Given.Provider>;
}

export function usePageContext(): PageContext {
  const pageContext = useContext(Given);
  if (pageContext === undefined) throw new Error('This component is not inside a PageContextProvider.');
  return pageContext;
}

/** The present state of the page. Components that use it are rendered again after changes, at most once a frame. */
export function usePage(): Page {
  const { state } = usePageContext();
  const [page, setPage] = useState(state.page);
  useEffect(() => {
    setPage(state.page);
    return state.listen(() => setPage(state.page));
  }, [state]);
  return page;
}

/** An answer, with its question. */
interface Answer<Q extends Question> {
  readonly answer: Questions[Q]['answer'];
  readonly ask: Questions[Q]['ask'];
}

/**
 * The latest answer of the log; undefined before the first, and while `ask` is undefined. One question is open at a
 * time: if questions come faster than answers, those in between are skipped. Another `version` repeats the question,
 * and so does a source that has restarted.
 */
export function useAnswer<Q extends Question>(
  question: Q,
  ask: Questions[Q]['ask'] | undefined,
  version = 0,
): Answer<Q> | undefined {
  const { log, state } = usePageContext();
  const [given, setGiven] = useState<Answer<Q> | undefined>(undefined);
  const asking = useRef<{ next: Questions[Q]['ask'] | undefined; isBusy: boolean }>({
    next: undefined,
    isBusy: false,
  });
  const key = ask === undefined ? '' : JSON.stringify(ask);
  useEffect(() => {
    const mine = asking.current;
    mine.next = ask;
    if (ask === undefined) setGiven(undefined);
    if (mine.isBusy) return;
    const work = async (): Promise<void> => {
      mine.isBusy = true;
      while (mine.next !== undefined) {
        const next: Questions[Q]['ask'] = mine.next;
        mine.next = undefined;
        try {
          const answer = await log.ask(question, next);
          setGiven({ answer, ask: next });
        } catch {
          // A question without an answer shows nothing.
          setGiven(undefined);
        }
      }
      mine.isBusy = false;
    };
    void work();
  }, [log, question, key, version, state.page.hello]);
  return given;
}

/** The format of times for the whole page. */
export function useTimes(): Times {
  const { book, source, clockAhead } = usePage();
  const now = Date.now() + clockAhead;
  if (book === undefined || book.length === 0) return new Times(now, now);
  return new Times(book.firstAt, source.kind === 'live' ? Math.max(book.lastAt, now) : book.lastAt);
}

const Moment = createContext<MomentView | undefined>(undefined);

/** Asks once, for all components, for the state of all connections at the shown moment. */
export function MomentProvider({ children }: { children: ComponentChildren }) {
  const page = usePage();
  const position = positionOf(page);
  const given = useAnswer('moment', position < 0 ? undefined : { position });
  return <Moment.Provider value={given?.answer}>{children}</Moment.Provider>;
}

/** What the things of a chart are called. */
export function useNames(chart: string): Names {
  return namesOf(chart, usePage().isRaw);
}

export function useMoment(): MomentView | undefined {
  return useContext(Moment);
}
