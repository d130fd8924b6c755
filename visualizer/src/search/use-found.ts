/** The entries that fit, and how far the search is. Asks again until the whole log is searched. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EntryQuery } from '../log/find-entries.js';
import { useAnswer } from '../state/page-context.js';

export interface FoundSoFar {
  /** Until there is an answer, those of the search before: a list that vanishes with every letter cannot be read. */
  readonly found: Int32Array | undefined;
  /** From 0 to 1. */
  readonly share: number;
}

export function useFound(query: EntryQuery | undefined, length: number): FoundSoFar {
  const [round, setRound] = useState(0);
  const given = useAnswer('find', query, length + round);
  const isOfQuery = query !== undefined && JSON.stringify(given?.ask) === JSON.stringify(query);
  const answer = isOfQuery ? given?.answer : undefined;
  const last = useRef<Int32Array | undefined>(undefined);
  if (answer !== undefined) last.current = answer.positions;
  const isDone = answer?.share === 1;
  useEffect(() => {
    if (answer !== undefined && !isDone) setRound((value) => value + 1);
  }, [answer]);
  return {
    found: query === undefined ? undefined : last.current,
    share: query === undefined ? 1 : (answer?.share ?? 0),
  };
}
