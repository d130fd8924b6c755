/**
 * The connection chart with the events that real servers, the host and time can cause, for `edgePaths`; and the reason for each
 * transition that none of them reaches.
 */
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { ConnectionContext } from '../../../machines/connection/connection.events.js';
import type { Failure } from '../../../machines/policy/failure.js';
import { connectionModel, MODEL_START, type ConnectionModel } from '../connection-model.js';
import { errorEvent } from '../edge-paths.js';
import { causeOf, type Reach } from './causes.js';

/** Why no server, user or timer takes a transition, by the state and the event of its name. */
const BEYOND_REACH: readonly (readonly [RegExp, string])[] = [
  [
    /adopt(?:Tools|Refreshed|Successor)\|/,
    'A list is adopted without the server, so only a bug makes that fail.',
  ],
  [
    /error\.actor\.enrichCatalog/,
    'Lists that a server refuses count as empty, so only a bug makes this fail.',
  ],
  [/resolve(?:Config|Successor)/, 'An entry that cannot be read is wrong for good, and no sign-in helps.'],
  [/configuring\.beginning/, 'The connection was made anew after a bug in Troupe.'],
  [/ready\|session\.lost/, 'Whatever ends a session that was ready may pass.'],
  [/probeAgain/, 'A server that refuses a ping for good has answered it, and anything else may pass.'],
];

/**
 * The transitions of the connection chart that no server, user or timer can cause, each with the reason.
 *
 * @param missing `missing` of `edgePaths(model.machine, model)`, or of a coverage.
 *
 * @throws `Error` if there is no reason for one of them.
 *
 * @example
 * ```ts
 * import { beyondReach, edgePaths, serverModel } from 'mcp-troupe/testing';
 *
 * const model = serverModel();
 * console.log(beyondReach(edgePaths(model.machine, model).missing));
 * ```
 */
export function beyondReach(missing: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    missing.map((edge) => {
      const reason = BEYOND_REACH.find(([about]) => about.test(edge))?.[1];
      if (reason === undefined) throw new Error(`The transition '${edge}' was not taken, but it can be.`);
      return [edge, reason];
    }),
  );
}

/**
 * As `connectionModel`, with only those events that `walkWithServers` can make happen. The transports are streamable HTTP, a
 * child process, and a server of the new era in this process.
 *
 * @example
 * ```ts
 * import { edgePaths, serverModel } from 'mcp-troupe/testing';
 *
 * const model = serverModel();
 * console.log(edgePaths(model.machine, model).paths.length);
 * ```
 */
export function serverModel(): ConnectionModel {
  const model = connectionModel();
  const inputs = model.inputs.filter((input) => (input as { crash?: unknown }).crash === null);
  return {
    ...model,
    inputs,
    events: (snapshot) =>
      [...furtherEvents(snapshot), ...model.events(snapshot)].filter(
        (event) =>
          causeOf(event, slotOf(snapshot, event), reachOf(snapshot)) !== undefined &&
          isPossible(event, snapshot.context as ConnectionContext),
      ),
  };
}

/** The slot of the effect whose end an event is. */
export function slotOf(snapshot: AnyMachineSnapshot, { type }: EventObject): string | undefined {
  const id = /^xstate\.(?:done|error)\.actor\.(.*)$/.exec(type)?.[1];
  const src = snapshot._nodes.flatMap((node) => node.invoke).find((invoked) => invoked.id === id)?.src;
  return id === undefined ? undefined : typeof src === 'string' ? src : id;
}

function reachOf(snapshot: AnyMachineSnapshot): Reach {
  return (snapshot.context as ConnectionContext).transport;
}

/** What a cause alone does not decide. */
function isPossible({ type }: EventObject, { era, subscription, attempt }: ConnectionContext): boolean {
  if (type === 'subscription.ended') return era === 'new' && subscription.since !== null;
  // An earlier attempt may have been refused over HTTP+SSE, which reports the end of its stream instead.
  return type !== 'session.unreachable' || attempt === 1;
}

/** What the model of all events does not distinguish. */
function furtherEvents(snapshot: AnyMachineSnapshot): EventObject[] {
  const { generation } = snapshot.context as ConnectionContext;
  const running = snapshot._nodes.flatMap((node) => node.invoke).map(({ id }) => id);
  const sample = { message: 'A sample.', at: MODEL_START };
  const events: EventObject[] = [];
  const permanent: Failure = { ...sample, code: 'variable-missing', phase: 'configure' };
  if (running.includes('resolveSuccessor')) events.push(errorEvent('resolveSuccessor', permanent));
  const conflict: Failure = { ...sample, code: 'http-status', phase: 'handshake', http: { status: 409 } };
  if (running.includes('handshakeSuccessor')) events.push(errorEvent('handshakeSuccessor', conflict));
  const expired: Failure = { ...sample, code: 'session-expired', phase: 'session' };
  if (snapshot.hasTag('usable'))
    events.push({ type: 'session.lost', generation, failure: expired } as EventObject);
  return events;
}
