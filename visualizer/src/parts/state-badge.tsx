/** The state of an actor, by shape, word and color together. */
import { toneOf, type Tone } from '../chart/arrangements.js';

const SHAPES: Readonly<Record<Tone, string>> = {
  work: 'M8 2a6 6 0 1 0 6 6h-2a4 4 0 1 1-4-4z',
  good: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z',
  warn: 'M8 2l6.5 11.5h-13z',
  bad: 'M4.2 2.8L8 6.6l3.8-3.8 1.4 1.4L9.4 8l3.8 3.8-1.4 1.4L8 9.4l-3.8 3.8-1.4-1.4L6.6 8 2.8 4.2z',
  rest: 'M3 3h10v10H3z',
  plain: 'M3 7h10v2H3z',
};

/** A person: nothing goes on until one acts. */
const PERSON = 'M8 1.5a3.2 3.2 0 1 1 0 6.4 3.2 3.2 0 0 1 0-6.4zM2 14.5a6 5.6 0 0 1 12 0z';

export function StateMark({ state, isWaiting = false }: { state: string; isWaiting?: boolean }) {
  const tone = isWaiting ? 'warn' : toneOf(state);
  return (
    <svg class={`state-mark tone-${tone}`} viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      <path d={isWaiting ? PERSON : SHAPES[tone]} />
    </svg>
  );
}

export interface StateBadgeProps {
  readonly state: string;
  readonly words: string;
  /** Whether it waits for a person. */
  readonly isWaiting?: boolean;
}

export function StateBadge({ state, words, isWaiting = false }: StateBadgeProps) {
  return (
    <span class={`state-badge tone-${isWaiting ? 'warn' : toneOf(state)}`}>
      <StateMark state={state} isWaiting={isWaiting} />
      <span class="state-words">
        <strong>{words}</strong>
      </span>
    </span>
  );
}
