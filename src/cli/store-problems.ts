/** What a store could not do, or a sign-in did not take, for a person: once for each reason, however often it is tried. */
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { Troupe } from '../troupe.js';
import { oneLine } from './safe-text.js';
import type { Terminal } from './terminal.js';

/** By the kind of the diagnostic, where to look. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['review-problem', "; see 'troupe review'"],
  ['approvals-problem', ''],
  ['sign-in-not-stored', ''],
  ['sign-in-failed', ''],
]);

/** Gives what is to be told of an event; undefined where that was told before, or is something else. */
export function storeProblems(): (event: LifecycleEvent) => string | undefined {
  const told = new Set<string>();
  return (event) => {
    const advice = event.type === 'diagnostic' ? ADVICE.get(event.kind) : undefined;
    if (event.type !== 'diagnostic' || advice === undefined || told.has(event.message)) return undefined;
    told.add(event.message);
    return `${event.message}${advice}`;
  };
}

/** For as long as the troupe lives. */
export function noteStoreProblems({ diagnostics$ }: Pick<Troupe, 'diagnostics$'>, terminal: Terminal): void {
  const problemOf = storeProblems();
  diagnostics$.subscribe((event) => {
    const problem = problemOf(event);
    if (problem !== undefined) terminal.note(terminal.noteColors.yellow(oneLine(problem)));
  });
}
