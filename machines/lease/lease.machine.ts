/**
 * The lease of one server that runs once in the fleet, as one host sees it.
 *
 * Owns: whether this host asks for the lease, has it, or gives it back. Does not own: the engine, the deadline itself, and the
 * server; the connection's chart starts and ends that.
 *
 * L1. The server runs only in `holding`. Every way out of it leads through `ending`, which is left when the server is
 *     proven gone.
 * L2. The lease is given back only after that, and asked for again only after that.
 * L3. A renewal that fails is tried again until the time is over; a lease that the engine does not know any more ends at once.
 * L4. An actor that replaces one that died ends the server first: nobody has kept its deadline.
 */
import { assign, fromPromise, setup } from 'xstate';
import { notProvided } from '../not-provided.js';
import type { LeasePolicy } from '../policy/lease-term.js';
import { restorable } from '../restore.js';

/** Input of the lease chart. */
export interface LeaseInput {
  /** Name of the server. */
  readonly server: string;
  /** The delays of the chart. */
  readonly policy: LeasePolicy;
  /** Why the previous actor died, if this one replaces it. */
  readonly crash?: string;
}

/** Context of the lease chart. Plain JSON. */
export interface LeaseContext {
  /** Name of the server. */
  readonly server: string;
  /** The delays of the chart. */
  readonly policy: LeasePolicy;
  /** Grows from holder to holder; null while this host holds no lease. */
  readonly token: string | null;
  /** Whether a connection of this host needs the server. */
  readonly wanted: boolean;
  /** Whether this actor replaces one that died. */
  readonly crashed: boolean;
}

/** Every event that the lease chart accepts. */
export type LeaseEvent =
  /** A connection of this host needs the server. */
  | { readonly type: 'lease.wanted' }
  /** No connection of this host needs the server any more. */
  | { readonly type: 'lease.unwanted' }
  /** Another host has begun to hold the lease, or has given it back. */
  | { readonly type: 'holder.changed' };

/** Input of every effect of the lease chart. */
export interface LeaseEffectInput {
  /** Name of the server. */
  readonly server: string;
}

/** Result of the effect `acquireLease`. */
export interface AcquireLeaseOutput {
  /** The token of the lease; null if it was not given. */
  readonly token: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Result of the effect `renewLease`. */
export interface RenewLeaseOutput {
  /** False if the lease is over for certain. */
  readonly isHeld: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Result of the effect `endServer`. */
export interface EndServerOutput {
  /** Whether nothing of the server is left on this host. */
  readonly isGone: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Result of the effects `keepTerm` and `releaseLease`. */
export interface LeaseEffectOutput {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const lease = setup({
  types: {
    context: {} as LeaseContext,
    events: {} as LeaseEvent,
    input: {} as LeaseInput,
    tags: {} as 'holding',
  },
  actors: {
    acquireLease: fromPromise<AcquireLeaseOutput, LeaseEffectInput>(notProvided),
    renewLease: fromPromise<RenewLeaseOutput, LeaseEffectInput>(notProvided),
    keepTerm: fromPromise<LeaseEffectOutput, LeaseEffectInput>(notProvided),
    endServer: fromPromise<EndServerOutput, LeaseEffectInput>(notProvided),
    releaseLease: fromPromise<LeaseEffectOutput, LeaseEffectInput>(notProvided),
  },
  guards: {
    hasCrashed: ({ context }) => context.crashed,
    isWanted: ({ context }) => context.wanted,
    isGiven: (_, params: AcquireLeaseOutput) => params.token !== null,
    isHeld: (_, params: RenewLeaseOutput) => params.isHeld,
    isGone: (_, params: EndServerOutput) => params.isGone,
  },
  delays: {
    ask: ({ context }) => context.policy.askMs,
    renew: ({ context }) => context.policy.renewMs,
    retry: ({ context }) => context.policy.retryMs,
  },
  actions: {
    recordLease: assign((_, params: AcquireLeaseOutput) => ({ token: params.token })),
    forgetLease: assign({ token: null, crashed: false }),
    want: assign({ wanted: true }),
    unwant: assign({ wanted: false }),
  },
});

const input = ({ context }: { context: LeaseContext }): LeaseEffectInput => ({ server: context.server });
const outputOf = <T>({ event }: { event: { output: T } }): T => event.output;

/** Accepted without effect. */
const expected = {};

const afterRelease = [
  { guard: 'isWanted', target: '#lease.waiting', actions: 'forgetLease' },
  { target: '#lease.over', actions: 'forgetLease' },
] as const;

/** While the server is being ended, a connection may need it again. */
const noted = {
  'lease.wanted': { actions: 'want' },
  'lease.unwanted': { actions: 'unwant' },
  'holder.changed': expected,
} as const;

/** The chart of one server's lease, at one host. */
export const leaseMachine = restorable(
  lease.createMachine({
    id: 'lease',
    options: { maxIterations: 100 },
    context: ({ input: { server, policy, crash } }) => ({
      server,
      policy,
      token: null,
      wanted: true,
      crashed: crash !== undefined,
    }),
    initial: 'beginning',
    states: {
      beginning: {
        description: 'A replacement for an actor that died ends the server first.',
        always: [{ guard: 'hasCrashed', target: 'ending' }, { target: 'waiting' }],
      },
      waiting: {
        description: 'Another host has the lease, or the engine does not give it yet.',
        initial: 'asking',
        on: {
          'lease.wanted': expected,
          'lease.unwanted': { target: 'over', actions: 'unwant' },
          'holder.changed': expected,
        },
        states: {
          asking: {
            description: 'The engine is asked for the lease.',
            invoke: {
              id: 'acquireLease',
              src: 'acquireLease',
              input,
              onDone: [
                {
                  guard: { type: 'isGiven', params: outputOf },
                  target: '#lease.holding',
                  actions: { type: 'recordLease', params: outputOf },
                },
                { target: 'resting' },
              ],
              onError: 'resting',
            },
          },
          resting: {
            description: 'Asks again shortly, or once another host has given the lease back.',
            after: { ask: 'asking' },
            on: { 'holder.changed': 'asking' },
          },
        },
      },
      holding: {
        description: 'The server may run on this host, and nowhere else.',
        tags: 'holding',
        initial: 'resting',
        invoke: {
          id: 'keepTerm',
          src: 'keepTerm',
          input,
          onDone: 'ending',
          onError: 'ending',
        },
        on: {
          'lease.wanted': expected,
          'lease.unwanted': { target: 'ending', actions: 'unwant' },
          'holder.changed': expected,
        },
        states: {
          resting: {
            description: 'Until the next renewal.',
            after: { renew: 'renewing' },
          },
          renewing: {
            description: 'The engine is asked to move the end of the lease on.',
            invoke: {
              id: 'renewLease',
              src: 'renewLease',
              input,
              onDone: [
                { guard: { type: 'isHeld', params: outputOf }, target: 'resting' },
                { target: '#lease.ending' },
              ],
              onError: 'retrying',
            },
          },
          retrying: {
            description: 'The engine did not answer: it is asked again shortly, until the time is over.',
            after: { retry: 'renewing' },
          },
        },
      },
      ending: {
        description: 'The server is ended at once.',
        on: noted,
        invoke: {
          id: 'endServer',
          src: 'endServer',
          input,
          onDone: [{ guard: { type: 'isGone', params: outputOf }, target: 'releasing' }, { target: 'stuck' }],
          onError: 'stuck',
        },
      },
      stuck: {
        description: 'The server is not proven gone, so this host asks for no lease.',
        on: noted,
        after: { ask: 'ending' },
      },
      releasing: {
        description: 'The lease is given back, if it is not over.',
        on: noted,
        invoke: {
          id: 'releaseLease',
          src: 'releaseLease',
          input,
          onDone: afterRelease,
          onError: afterRelease,
        },
      },
      over: {
        description: 'No connection of this host needs the server.',
        type: 'final',
      },
    },
  }),
);
