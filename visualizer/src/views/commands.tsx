/** Commands for a connection. A command that its chart does not accept now can be sent anyway, to see the reason. */
import { useEffect, useState } from 'preact/hooks';
import type { CommandAnswer, CommandRequest } from '../../../src/inspector/page-protocol.js';
import { isCommandable } from '../state/page.js';
import { usePage, usePageContext } from '../state/page-context.js';
import { REASON_WORDS, spaced } from '../words/entry-words.js';
import { namesOf } from '../words/names.js';

const COMMANDS: readonly (readonly [command: string, words: string])[] = [
  ['connection.start', 'Start'],
  ['connection.stop', 'Stop'],
  ['connection.retry', 'Retry'],
  ['connection.restart', 'Restart'],
  ['connection.refresh', 'Refresh'],
  ['trust.granted', 'Trust'],
  ['trust.denied', 'Deny'],
];

/** A command by the text of its button; by its event if it has none. */
function commandWords(command: string, isRaw: boolean): string {
  if (isRaw) return command;
  return COMMANDS.find(([each]) => each === command)?.[1] ?? namesOf('connection', false).event(command);
}

type Outcome = {
  readonly command: string;
  /** When it was sent, and since when the connection was in its state then, milliseconds since the epoch. */
  readonly sentAt: number;
  readonly since: number | undefined;
} & ({ readonly answer: CommandAnswer } | { readonly trouble: string });

export interface CommandsProps {
  readonly name: string;
  /** Null if it is unknown. */
  readonly allowed: readonly string[] | null;
  /** The hash of the trust request, as it was shown. */
  readonly hash: string | undefined;
  /** Since when it has been in its public state, milliseconds since the epoch; undefined if that is unknown. */
  readonly since: number | undefined;
  /** When the state of its chart changed last, milliseconds since the epoch. */
  readonly changedAt: number | undefined;
}

/** A later change is not a consequence of the command, milliseconds. */
const AT_ONCE_MS = 1_000;

export function Commands({ name, allowed, hash, since, changedAt }: CommandsProps) {
  const { runtime } = usePageContext();
  const page = usePage();
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const [isForced, setForced] = useState(false);
  const canSend = isCommandable(page) && runtime !== undefined && allowed !== null;

  // The next state says more than the answer.
  const isOld =
    outcome !== undefined &&
    (outcome.since !== since || (changedAt !== undefined && changedAt > outcome.sentAt + AT_ONCE_MS));
  useEffect(() => {
    if (isOld) setOutcome(undefined);
  }, [isOld]);

  async function send(command: string): Promise<void> {
    if (runtime === undefined) return;
    setOutcome(undefined);
    const sent = { command, since, sentAt: Date.now() + page.clockAhead };
    try {
      setOutcome({ ...sent, answer: await runtime.send(requestOf(command)) });
    } catch (error) {
      setOutcome({
        ...sent,
        trouble: error instanceof Error ? error.message : 'The command could not be sent.',
      });
    }
  }

  function requestOf(command: string): CommandRequest {
    const isTrust = command === 'trust.granted' && hash !== undefined;
    return { server: name, command, ...(isTrust && { hash }) };
  }

  if (page.source.kind === 'file' || page.hello?.isReadOnly === true) return null;
  return (
    <section class="commands" aria-label={`Commands for ${name}`}>
      <div class="command-row" role="group" aria-label="Commands">
        {COMMANDS.map(([command, words]) => {
          const isLegal = allowed?.includes(command) ?? false;
          const isOffered = canSend && (isLegal || isForced);
          return (
            <button
              key={command}
              type="button"
              class={isLegal ? 'command' : 'command illegal'}
              disabled={!isOffered}
              title={isLegal ? command : `${command}: not possible now`}
              onClick={() => void send(command)}
            >
              {words}
            </button>
          );
        })}
      </div>
      <label class="force">
        <input
          type="checkbox"
          checked={isForced}
          disabled={!canSend}
          onChange={({ currentTarget }) => setForced(currentTarget.checked)}
        />
        Send a command even if it is not possible now
      </label>
      {!canSend && (
        <p class="muted small">Commands work only while the page shows the present of a running troupe.</p>
      )}
      <div role="status">{outcome !== undefined && !isOld && <OutcomeNote outcome={outcome} />}</div>
    </section>
  );
}

function OutcomeNote({ outcome }: { outcome: Outcome }) {
  const { isRaw } = usePage();
  if ('trouble' in outcome)
    return (
      <p class="note bad">
        {commandWords(outcome.command, isRaw)}: {outcome.trouble}
      </p>
    );
  const { command, answer } = outcome;
  if (answer.accepted)
    return (
      <p class="note good">
        <span title={command}>{commandWords(command, isRaw)}</span>: accepted.
      </p>
    );
  return (
    <div class="note bad rejection">
      <p>
        <strong>Rejected.</strong> <span title={command}>{commandWords(command, isRaw)}</span> while{' '}
        {isRaw ? answer.state : spaced(answer.state)}:{' '}
        <span title={answer.reason}>{isRaw ? answer.reason : REASON_WORDS[answer.reason]}</span>. Nothing has
        changed.
      </p>
      <p class="small" title={answer.allowed.join(', ')}>
        Possible now: {answer.allowed.map((each) => commandWords(each, isRaw)).join(', ') || 'nothing'}
      </p>
    </div>
  );
}
