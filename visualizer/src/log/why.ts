/**
 * Why a connection is in its state, in sentences: what it does or waits for, and the failures that led there, each with the
 * entry that shows it. Pure.
 *
 * Owns the sentences. Does not own the facts: they come from the log (`story.ts`) and from the present status.
 */
import { hasTag, type PublicState } from '../../../machines/connection/connection.states.js';
import type { Failure } from '../../../machines/policy/failure.js';
import type { ShownContext } from '../../../src/event-log/format/by-shape.js';
import { serverCommand } from '../../../src/lifecycle/server-command.js';
import type { Stay, Trouble } from './story.js';

export interface Sentence {
  readonly text: string;
  /** The entry that shows it; undefined if no entry does. */
  readonly position?: number | undefined;
  /** A command for a person to run. */
  readonly command?: string;
  /** An address for a person to open. */
  readonly href?: string;
}

export interface WhyFacts {
  readonly server: string;
  readonly present: PublicState;
  readonly context: ShownContext;
  /** The public states up to the moment, the newest first. */
  readonly stays: readonly Stay[];
  readonly restarts: number;
  /** The newest first. */
  readonly troubles: readonly Trouble[];
  /** When the next attempt is planned, milliseconds since the epoch; null if none is. */
  readonly nextAt: number | null;
  /** Where a person can sign in; null if unknown. */
  readonly authUrl: string | null;
  /** Why its session still belongs to the former entry; null if it does not. */
  readonly outdated: Failure | null;
  /** Why a stopped connection is stopped, as its context says. */
  readonly stopReason: unknown;
  /** The present time, milliseconds since the epoch; undefined in the past. */
  readonly now: number | undefined;
}

export interface TimeWords {
  readonly at: (at: number) => string;
  readonly duration: (ms: number) => string;
  /** In whole seconds. */
  readonly countdown: (ms: number) => string;
}

/** Failures that are further apart than this belong to different incidents, milliseconds. */
const INCIDENT_GAP_MS = 10 * 60_000;

/** The first sentence is about the present, the others about what led there. */
export function whySentences(facts: WhyFacts, words: TimeWords): readonly Sentence[] {
  return [presentSentence(facts, words), ...outdatedSentence(facts), ...troubleSentences(facts, words)];
}

function presentSentence(facts: WhyFacts, words: TimeWords): Sentence {
  const { server, present, context, stays, restarts, nextAt, authUrl } = facts;
  const [stay] = stays;
  const position = stay?.isExact === true ? stay.position : undefined;
  const since = stay === undefined ? '' : sinceWords(stay, words);
  const has = (tag: Parameters<typeof hasTag>[1]): boolean => hasTag(present, tag);
  const { attempt, maxAttempts } = context;
  const of = maxAttempts === undefined ? '' : ` of ${maxAttempts}`;
  if (has('awaitingTrust'))
    return {
      text: `It has waited ${since} for a person to trust its entry.`,
      position,
      command: serverCommand('trust', server),
    };
  if (has('authorizing'))
    return {
      text: `It has waited ${since} for a person to sign in.`,
      position,
      command: serverCommand('login', server),
      ...(authUrl !== null && { href: authUrl }),
    };
  if (has('dormant')) return { text: 'It starts when it is first used.', position };
  if (has('offline')) return { text: `It has waited ${since} for the network.`, position };
  if (has('backingOff'))
    return {
      text: `Attempt ${attempt + 1}${of} follows${whenWords(nextAt, facts, words)}${becauseOf(facts)}.`,
      position: facts.troubles[0]?.position,
    };
  if (has('retryingSlowly'))
    return {
      text: `Its attempts have failed; the next one follows${whenWords(nextAt, facts, words)}.`,
      position,
    };
  if (has('exhausted'))
    return { text: 'Its attempts have failed; a call or the command Retry causes another one.', position };
  switch (present.state) {
    case 'ready': {
      const again = restarts === 0 ? '' : `, after ${countWords(restarts, 'restart')}`;
      return { text: `It has been ready ${since}${again}.`, position };
    }
    case 'failed':
      return { text: `It failed ${sinceOrAt(stay, words)}; Troupe does not try again by itself.`, position };
    case 'stopped':
    case 'shuttingDown':
      return stoppedSentence(facts, words);
    case 'reconnecting':
      return { text: `It lost its session ${sinceOrAt(stay, words)} and connects again.`, position };
    default:
      return {
        text:
          attempt > 0
            ? `Attempt ${attempt}${of} has been under way ${since}.`
            : `It has been starting ${since}.`,
        position,
      };
  }
}

function stoppedSentence({ stays, stopReason, present }: WhyFacts, words: TimeWords): Sentence {
  const past = stays.filter(({ state }) => state === 'stopped' || state === 'shuttingDown');
  const begin = past.at(-1);
  const before = stays[past.length];
  const how =
    stopReason === 'close'
      ? 'The troupe was closed'
      : stopReason === 'remove'
        ? 'It was removed from the configuration'
        : 'It was stopped';
  const isEnding = hasTag(present, 'returning') ? 'Its session is being closed' : how;
  const earlier =
    before === undefined ? '' : ` Before that, it was ${before.state} ${sinceWords(before, words)}.`;
  return {
    text: begin === undefined ? `${isEnding}.` : `${isEnding} ${sinceOrAt(begin, words)}.${earlier}`,
    position: begin?.isExact === true ? begin.position : undefined,
  };
}

function outdatedSentence({ outdated, stays }: WhyFacts): readonly Sentence[] {
  if (outdated === null) return [];
  return [
    {
      text: `Its session still uses the entry before the last reload, because the new one failed: ${failureWords(outdated)}`,
      position: stays[0]?.position,
    },
  ];
}

function troubleSentences({ troubles, context }: WhyFacts, words: TimeWords): readonly Sentence[] {
  const incident = incidentOf(troubles);
  const sentences = (['loss', 'attempt', 'other'] as const).flatMap((kind) => {
    const those = incident.filter((trouble) => trouble.kind === kind);
    const [last] = those;
    return last === undefined
      ? []
      : [{ text: troubleWords(kind, those, last, words), position: last.position }];
  });
  // A present error is shown with its cause.
  const last = context.failure === undefined ? incident[0] : undefined;
  const cause = last && causeWords(last.failure);
  return cause === undefined ? sentences : [...sentences, { text: cause }];
}

/** The last failures that follow each other closely. */
function incidentOf(troubles: readonly Trouble[]): readonly Trouble[] {
  const end = troubles.findIndex(
    ({ at }, index) => index > 0 && (troubles[index - 1]?.at ?? at) - at > INCIDENT_GAP_MS,
  );
  return end === -1 ? troubles : troubles.slice(0, end);
}

function troubleWords(
  kind: Trouble['kind'],
  those: readonly Trouble[],
  last: Trouble,
  { at, duration }: TimeWords,
): string {
  const count = those.length;
  const span = last.at - (those.at(-1)?.at ?? last.at);
  const times = count === 1 ? '' : ` ${count} times in ${duration(span)}`;
  const when = count === 1 ? `at ${at(last.at)}` : `the last time at ${at(last.at)}`;
  const what = failureWords(last.failure);
  if (kind === 'attempt') {
    const begin = count === 1 ? 'An attempt failed' : `${count} attempts failed in ${duration(span)},`;
    return `${begin} ${when}: ${what}`;
  }
  const begin =
    kind === 'other'
      ? 'A request of Troupe failed'
      : last.failure.exit === undefined
        ? 'It lost its session'
        : 'It crashed';
  return `${begin}${times}${count === 1 ? ' ' : ', '}${when}: ${what}`;
}

function failureWords({ code, message }: Failure): string {
  return `${code}: ${message}`;
}

/** What to do, or else what the server wrote last. */
function causeWords({ hint, stderrTail = [] }: Failure): string | undefined {
  const line = stderrTail.findLast((each) => each.trim() !== '');
  return hint ?? (line === undefined ? undefined : `The last line on its stderr was: ${line}`);
}

function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function sinceWords({ at, isExact }: Stay, words: TimeWords): string {
  return isExact ? `since ${words.at(at)}` : `since before ${words.at(at)}`;
}

function sinceOrAt(stay: Stay | undefined, words: TimeWords): string {
  if (stay === undefined) return 'earlier';
  return stay.isExact ? `at ${words.at(stay.at)}` : `before ${words.at(stay.at)}`;
}

/** With a leading comma. */
function becauseOf({ troubles }: WhyFacts): string {
  const [last] = troubles;
  if (last === undefined) return '';
  return last.kind === 'loss' ? ', because it lost its session' : ', because the last attempt failed';
}

/** With a leading space. */
function whenWords(at: number | null, { now }: WhyFacts, words: TimeWords): string {
  if (at === null) return '';
  if (now === undefined) return ` at ${words.at(at)}`;
  return at <= now ? ' now' : ` in ${words.countdown(at - now)}`;
}
