/**
 * The region of `ready` for the stream on which a server of the new era reports changes of its lists and resources. It
 * recovers by itself: a stream that breaks loses no connection.
 */
import { connection } from './connection.setup.js';
import { at, boundedBy, expected, failureOf, outputOf } from './connection.transitions.js';
import { toFailure } from '../policy/failure.js';

/** The stream is opened again, unless it has failed too often. */
const reopened = <TParams>(params: TParams) =>
  [
    {
      guard: { type: 'maySubscribeAgain', params },
      target: 'waiting',
      actions: { type: 'planSubscription', params },
    },
    { target: 'givenUp' },
  ] as const;

const failedAt = ({ event }: { event: { error: unknown } }) => ({ at: toFailure(event.error).at });

const subscribe = { guard: 'isNewEra', target: 'subscribing' } as const;

export const subscription = connection.createStateConfig({
  initial: 'beginning',
  on: { 'subscription.ended': expected, 'subscription.wanted': expected },
  states: {
    beginning: {
      description: 'Servers of the old era report changes within their session.',
      entry: 'beginSubscription',
      always: [subscribe, { target: 'none' }],
    },
    none: {
      description: 'There is no such stream, or nothing to report on it.',
      on: { 'subscription.wanted': subscribe },
    },
    subscribing: {
      description: 'Asks the server to report changes. Nothing else waits for its answer.',
      invoke: {
        id: 'subscribe',
        src: 'subscribe',
        input: boundedBy((policy) => policy.listTimeoutMs),
        onDone: [
          { guard: { type: 'hasNothingToReport', params: outputOf }, target: 'none' },
          {
            target: 'subscribed',
            actions: [
              { type: 'announceMissed', params: outputOf },
              { type: 'recordSubscribed', params: outputOf },
            ],
          },
        ],
        onError: [
          { guard: { type: 'isUnsupported', params: failureOf }, target: 'givenUp' },
          ...reopened(failedAt),
        ],
      },
      on: { 'subscription.wanted': { target: 'subscribing', reenter: true } },
    },
    subscribed: {
      description: 'The server reports changes as they happen.',
      on: {
        'subscription.ended': reopened(at),
        'subscription.wanted': 'subscribing',
      },
    },
    waiting: {
      description: 'The stream ended or could not be opened; it is opened again after a growing pause.',
      after: { subscriptionDelay: 'subscribing' },
    },
    givenUp: {
      description:
        'The server has no such stream, or lost it too often. Its lists are read again on request only.',
      on: { 'connection.refresh': { target: 'subscribing', actions: 'beginSubscription' } },
    },
  },
});
