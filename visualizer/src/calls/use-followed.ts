/** The call that is followed through the views, with all its entries. */
import { useMemo } from 'preact/hooks';
import { useAnswer, usePage } from '../state/page-context.js';
import type { CallView } from './call-views.js';

export interface Followed {
  readonly call: CallView | undefined;
  /** Positions of its entries. */
  readonly positions: ReadonlySet<number>;
}

export function useFollowed(): Followed {
  const { call: number, book } = usePage();
  const given = useAnswer('call', number === null ? undefined : { number }, book?.length ?? 0)?.answer;
  // The number may be the one of a later attempt.
  const call = number === null ? undefined : given;
  const positions = useMemo(() => new Set(call?.steps.map(({ position }) => position)), [call]);
  return { call, positions };
}
