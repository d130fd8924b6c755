/** Why a connection is in its state, with links to the entries that show it, and what a person can do. */
import { hasTag, type PublicState } from '../../../machines/connection/connection.states.js';
import { publicState } from '../../../machines/connection/public-state.js';
import { contextOf } from '../../../src/event-log/format/by-shape.js';
import type { InspectedStatus } from '../../../src/inspector/page-protocol.js';
import type { ActorView } from '../log/desk-messages.js';
import { laneTitle } from '../log/lane-names.js';
import { whySentences, type Sentence } from '../log/why.js';
import { openEntry } from '../state/moves.js';
import { useAnswer, usePageContext, useTimes } from '../state/page-context.js';
import { useNow } from '../state/tick.js';
import { countdown, duration } from '../state/times.js';

export interface WhyNoteProps {
  readonly name: string;
  readonly actor: ActorView;
  /** Undefined in the past. */
  readonly status: InspectedStatus | undefined;
  /** Milliseconds since the epoch; null if no attempt is planned. */
  readonly nextAt: number | null;
}

export function WhyNote({ name, actor, status, nextAt }: WhyNoteProps) {
  const times = useTimes();
  const given = useAnswer('why', { name, position: actor.position });
  const isCounting = status !== undefined && nextAt !== null;
  const now = useNow(isCounting);
  const view = given?.answer?.name === name ? given.answer : undefined;
  if (view === undefined) return null;
  const present: PublicState = publicState(actor.state);
  const sentences = whySentences(
    {
      ...view,
      server: laneTitle(name),
      present,
      context: contextOf(actor.context),
      stopReason: actor.context['stopReason'],
      nextAt,
      authUrl: status?.authUrl ?? null,
      outdated: hasTag(present, 'usable') ? (actor.details?.outdated ?? null) : null,
      now: isCounting ? now : undefined,
    },
    { at: (at) => times.at(at), duration, countdown },
  );
  return (
    <section
      class={hasTag(present, 'waitingForPerson') ? 'why note warn' : 'why'}
      aria-label={`Why ${laneTitle(name)} is in this state`}
    >
      <ul>
        {sentences.map((sentence) => (
          <Line key={sentence.text} sentence={sentence} />
        ))}
      </ul>
    </section>
  );
}

function Line({ sentence: { text, position, command, href } }: { sentence: Sentence }) {
  const { state } = usePageContext();
  return (
    <li>
      {text}
      {href !== undefined && (
        <>
          {' '}
          <a href={href} target="_blank" rel="noreferrer noopener">
            Sign in
          </a>
        </>
      )}
      {command !== undefined && (
        <>
          {' '}
          <span class="why-command">
            {href === undefined ? 'Run' : 'or run'} <code>{command}</code>
          </span>
        </>
      )}
      {position !== undefined && (
        <>
          {' '}
          <button type="button" class="link why-entry" onClick={() => openEntry(state, position)}>
            Show the entry
          </button>
        </>
      )}
    </li>
  );
}
