/** Everything about one actor at the moment that is shown. */
import type { ComponentChildren } from 'preact';
import type { ConnectionContext, PhaseTimings } from '../../../machines/connection.events.js';
import { renderQuestion } from '../../../src/cli/trust-question.js';
import { stateText } from '../../../src/event-log/divergence.js';
import type { InspectedStatus } from '../../../src/inspection/protocol.js';
import type { TrustRequest } from '../../../src/options.js';
import type { ActorView } from '../log/desk-messages.js';
import { Fold } from '../parts/fold.js';
import { JsonTree } from '../parts/json-tree.js';
import { Opening } from '../parts/opening.js';
import { StateBadge } from '../parts/state-badge.js';
import { statePath } from '../../../src/lifecycle/state-path.js';
import { isPast, positionOf } from '../state/page.js';
import { useAnswer, usePage, useTimes } from '../state/theater.js';
import { duration } from '../state/times.js';
import { Commands } from './commands.js';
import { Tools } from './tools.js';
import { NextTry, useFleet } from './fleet-view.js';
import { Nothing } from '../parts/nothing.js';

/** What is selected, as it stands at the moment that is shown. */
export function useActor(name: string): ActorView | undefined {
  const page = usePage();
  const position = positionOf(page);
  const given = useAnswer('actor', position < 0 ? undefined : { name, position });
  return given?.answer?.name === name ? given.answer : undefined;
}

export function DetailsView() {
  const page = usePage();
  const { selected, statuses } = page;
  const actor = useActor(selected);
  const row = useFleet().find(({ name }) => name === selected);
  const status = isPast(page) ? undefined : statuses.get(selected);
  const context = (actor?.context ?? {}) as unknown as Partial<ConnectionContext>;
  const error = row?.error ?? null;
  const path = actor === undefined ? undefined : statePath(actor.state);
  return (
    <section class="details" aria-label="Details">
      <header class="details-head">
        <h2 title={selected}>{selected === '' ? 'manager' : selected}</h2>
        {path !== undefined ? (
          <StateBadge {...path} />
        ) : row !== undefined ? (
          <StateBadge state={row.state} substate={row.substate} />
        ) : null}
      </header>
      <div class="details-body">
        {selected !== '' && (
          <Commands
            key={selected}
            name={selected}
            allowed={row?.allowed ?? null}
            hash={status?.trustRequest?.hash}
          />
        )}
        {actor === undefined && row === undefined && (
          <Nothing title="Not there">At this moment there is no actor of that name.</Nothing>
        )}
        {isAsked(status) && <TrustNote request={status.trustRequest} />}
        {typeof status?.authUrl === 'string' && (
          <p class="note warn">
            The server wants somebody to sign in.{' '}
            <a href={status.authUrl} target="_blank" rel="noreferrer noopener">
              Sign in
            </a>
          </p>
        )}
        {error !== null && <ErrorNote error={error} hint={context.failure?.hint ?? status?.error?.hint} />}
        {selected !== '' && (
          <Facts context={context} status={status} actor={actor} nextAt={row?.nextAttemptAt ?? null} />
        )}
        {context.timings !== undefined && <Timings timings={context.timings} />}
        <Stderr lines={status?.stderrTail ?? context.failure?.stderrTail ?? []} />
        {selected !== '' && <ServerCard server={context.server ?? null} />}
        {status !== undefined && <Tools key={selected} status={status} catalog={context.catalogHash ?? ''} />}
        {actor !== undefined && (
          <Fold title="Context" isOpen={selected === ''}>
            <JsonTree value={actor.context} />
          </Fold>
        )}
      </div>
    </section>
  );
}

type Asking = InspectedStatus & { readonly trustRequest: TrustRequest };

function isAsked(status: InspectedStatus | undefined): status is Asking {
  return status !== undefined && status.trustRequest !== null;
}

/** What somebody is to approve or deny: the question that the command asks, and all of what it has shortened. */
function TrustNote({ request }: { request: TrustRequest }) {
  return (
    <div class="note warn">
      <p>
        <strong>It waits for approval.</strong>
      </p>
      <p class="question mono">{renderQuestion(request)}</p>
      <Opening class="json-node" summary="Not shortened">
        {() => <JsonTree value={request} />}
      </Opening>
    </div>
  );
}

function ErrorNote(props: { error: { code: string; message: string }; hint: string | undefined }) {
  const { error, hint } = props;
  return (
    <div class="note bad">
      <p>
        <code>{error.code}</code> {error.message}
      </p>
      {hint !== undefined && <p class="small">{hint}</p>}
    </div>
  );
}

function Facts(props: {
  context: Partial<ConnectionContext>;
  status: InspectedStatus | undefined;
  actor: ActorView | undefined;
  nextAt: number | null;
}) {
  const { context, status, actor, nextAt } = props;
  const change = actor?.change ?? null;
  const times = useTimes();
  const facts: [string, ComponentChildren][] = [
    ['Transport', context.transport ?? status?.transport],
    ['Address', status?.url ?? context.url],
    ['Process', status?.pid ?? context.pid],
    ['Session', context.generation === 0 ? null : context.generation],
    [
      'Attempt',
      context.attempt === undefined || context.attempt === 0
        ? null
        : `${context.attempt} of ${context.policy?.maxAttempts ?? '?'}`,
    ],
    ['Next try', nextAt === null ? null : <NextTry at={nextAt} />],
    [
      'Ready since',
      context.readyAt === null || context.readyAt === undefined ? null : times.at(context.readyAt),
    ],
    ['Source', status?.source],
    [
      'Last change',
      change === null
        ? null
        : `${times.at(change.at)}${change.from === null ? '' : `, from ${stateText(change.from)}`}`,
    ],
  ];
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== null &&
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

const PHASES: readonly (readonly [keyof PhaseTimings, string])[] = [
  ['configuringMs', 'configuring'],
  ['queuedMs', 'queued'],
  ['launchingMs', 'launching'],
  ['handshakingMs', 'handshaking'],
  ['listingMs', 'listing'],
];

function Timings({ timings }: { timings: PhaseTimings }) {
  const longest = Math.max(1, ...PHASES.map(([phase]) => timings[phase] ?? 0));
  if (PHASES.every(([phase]) => timings[phase] === null)) return null;
  return (
    <Fold title="Time per phase" isOpen>
      <table class="phases">
        <tbody>
          {PHASES.map(([phase, words]) => {
            const ms = timings[phase];
            return (
              <tr key={phase}>
                <th scope="row">{words}</th>
                <td class="phase-bar">
                  {ms !== null && <span style={{ width: `${(ms / longest) * 100}%` }} />}
                </td>
                <td class="number">{ms === null ? '–' : duration(ms)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Fold>
  );
}

function Stderr({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <Fold title={`Last lines of stderr (${lines.length})`} isOpen>
      <pre class="stderr" tabIndex={0} aria-label="Last lines of stderr">
        {lines.join('\n')}
      </pre>
    </Fold>
  );
}

function ServerCard({ server }: { server: ConnectionContext['server'] }) {
  if (server === null) return null;
  const { info, protocolVersion, capabilities, instructions } = server;
  return (
    <Fold title="Server" isOpen>
      <dl class="facts">
        <div>
          <dt>Name</dt>
          <dd>
            {info.name} {info.version}
          </dd>
        </div>
        <div>
          <dt>Protocol</dt>
          <dd>{protocolVersion}</dd>
        </div>
        <div>
          <dt>Offers</dt>
          <dd>{Object.keys(capabilities).join(', ') || 'nothing'}</dd>
        </div>
      </dl>
      {instructions !== null && <p class="instructions">{instructions}</p>}
    </Fold>
  );
}
