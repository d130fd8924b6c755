/** The part of the time that the timeline shows goes where the moment goes, in whichever view that is moved. */
import { useLayoutEffect } from 'preact/hooks';
import { useMoment, usePage, useTheater } from './theater.js';

export function useWindowThatFollows(): void {
  const { state } = useTheater();
  const { cursor, book } = usePage();
  const moment = useMoment();
  // While the log is asked, the moment is still the one before.
  const at = moment !== undefined && moment.position === cursor ? moment.at : undefined;
  useLayoutEffect(() => {
    const { window } = state.page;
    if (window === null || book === undefined || at === undefined) return;
    if (window.from <= at && at <= window.to) return;
    const span = window.to - window.from;
    const from = Math.max(book.firstAt, Math.min(book.lastAt - span, at - span / 2));
    state.change({ window: { from, to: from + span } });
  }, [at]);
}
