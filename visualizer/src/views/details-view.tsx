/** The details of one actor at the shown moment. */
import type { ComponentChildren } from 'preact';
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { ServerIdentity } from '../../../machines/connection/connection.events.js';
import { renderQuestion } from '../../../src/cli/output/trust-question.js';
import { contextOf, type ShownContext } from '../../../src/event-log/format/by-shape.js';
import type { InspectedStatus } from '../../../src/inspector/page-protocol.js';
import type { PhaseTimings } from '../../../src/lifecycle/status-details.js';
import type { TrustRequest } from '../../../src/trust/trust-request.js';
import type { ActorView } from '../log/desk-messages.js';
import { chartOf, isConnectionLane, laneTitle } from '../log/lane-names.js';
import { stateValueWords, stateWords } from '../log/state-words.js';
import { Fold, Opening } from '../parts/fold.js';
import { JsonTree } from '../parts/json-tree.js';
import { StateBadge } from '../parts/state-badge.js';
import { publicState } from '../../../machines/connection/public-state.js';
import { useFleet } from '../search/use-chosen.js';
import { isPast, positionOf } from '../state/page.js';
import { useAnswer, useNames, usePage, useTimes } from '../state/page-context.js';
import { duration } from '../state/times.js';
import { Commands } from './commands.js';
import { Tools } from './tools.js';
import { NextTry } from './fleet-view.js';
import { Nothing } from '../parts/nothing.js';
import { WhyNote } from './why-note.js';

/** The selected actor at the shown moment. */
export function useActor(name: string): ActorView | undefined {
  const page = usePage();
  const position = positionOf(page);
  const given = useAnswer('actor', position < 0 ? undefined : { name, position });
  return given?.answer?.name === name ? given.answer : undefined;
}

export function DetailsView() {
  const page = usePage();
  const { selected, statuses, isRaw } = page;
  const actor = useActor(selected);
  const row = useFleet().find(({ name }) => name === selected);
  const status = isPast(page) ? undefined : statuses.get(selected);
  const context = contextOf(actor?.context ?? {});
  const error = row?.error ?? null;
  const details = actor?.details;
  const path = actor === undefined ? undefined : publicState(actor.state);
  const names = useNames(chartOf(selected));
  const isConnection = isConnectionLane(selected);
  return (
    <section class="details" aria-label="Details">
      <header class="details-head">
        <h2 title={laneTitle(selected)}>{laneTitle(selected)}</h2>
        {path !== undefined ? (
          <StateBadge
            state={path.state}
            words={
              isConnection
                ? stateWords(selected, path, isRaw)
                : stateValueWords(selected, actor?.state, isRaw)
            }
            isWaiting={isConnection && hasTag(path, 'waitingForPerson')}
          />
        ) : row !== undefined ? (
          <StateBadge state={row.state} words={stateWords(selected, row, isRaw)} />
        ) : null}
      </header>
      <div class="details-body">
        {isConnection && (
          <Commands
            key={selected}
            name={selected}
            allowed={row?.allowed ?? null}
            hash={status?.trustRequest?.hash}
            since={actor?.since}
            changedAt={actor?.change?.at}
          />
        )}
        {actor === undefined && row === undefined && (
          <Nothing title="Not present">There is no actor with this name at this moment.</Nothing>
        )}
        {isConnection && actor !== undefined && (
          <WhyNote
            key={selected}
            name={selected}
            actor={actor}
            status={status}
            nextAt={row?.nextAttemptAt ?? null}
          />
        )}
        {isAsked(status) && <TrustNote request={status.trustRequest} />}
        {error !== null && <ErrorNote error={error} hint={context.failure?.hint ?? status?.error?.hint} />}
        {isConnection && (
          <Facts context={context} status={status} actor={actor} nextAt={row?.nextAttemptAt ?? null} />
        )}
        {details !== undefined && <Timings timings={details.timings} />}
        <Stderr lines={status?.stderrTail ?? context.failure?.stderrTail ?? []} />
        {isConnection && <ServerCard server={details?.server ?? null} />}
        {status !== undefined && (
          <Tools key={selected} status={status} catalog={details?.catalogHash ?? ''} />
        )}
        {actor !== undefined && (
          <Fold title={isRaw ? 'Context' : 'All fields'} isOpen={!isConnection}>
            <JsonTree value={actor.context} names={names} />
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

/** The request for trust: the question that the command line asks, and the full text of everything that it shortens. */
function TrustNote({ request }: { request: TrustRequest }) {
  return (
    <div class="note warn">
      <p>
        <strong>It waits to be trusted.</strong>
      </p>
      <p class="question mono">{renderQuestion(request)}</p>
      <Opening class="json-node" summary="The whole entry">
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
  context: ShownContext;
  status: InspectedStatus | undefined;
  actor: ActorView | undefined;
  nextAt: number | null;
}) {
  const { context, status, actor, nextAt } = props;
  const change = actor?.change ?? null;
  const details = actor?.details;
  const isUsable = actor !== undefined && hasTag(publicState(actor.state), 'usable');
  const times = useTimes();
  const { isRaw } = usePage();
  const facts: [string, ComponentChildren][] = [
    ['Transport', details?.transport ?? context.transport ?? status?.transport],
    ['Address', status?.url ?? details?.url],
    ['Process', status?.pid ?? details?.pid],
    ['Session', context.generation === 0 ? null : `number ${context.generation}`],
    [
      'Attempt',
      context.attempt === 0 || isUsable ? null : `${context.attempt} of ${context.maxAttempts ?? '?'}`,
    ],
    ['Next try', nextAt === null ? null : <NextTry at={nextAt} />],
    [
      'Ready since',
      details === undefined || details.connectedAt === null || !isUsable
        ? null
        : times.at(details.connectedAt),
    ],
    ['Source', status?.source],
    [
      'Last change',
      change === null
        ? null
        : change.isExact
          ? `${times.at(change.at)}${change.from === null ? '' : `, from ${stateValueWords(actor?.name ?? '', change.from, isRaw)}`}`
          : `before ${times.at(change.at)}, when the log had begun`,
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

function ServerCard({ server }: { server: ServerIdentity | null }) {
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
