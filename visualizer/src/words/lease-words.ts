/** Words for the chart of the lease of a server that runs once in the fleet. */
import type { ChartWords } from './chart-words.js';

export const leaseWords: ChartWords = {
  title: 'lease',
  states: {
    beginning: 'beginning',
    waiting: 'waiting for the lease',
    'waiting.asking': 'asking the engine',
    'waiting.resting': 'before the next request',
    holding: 'holding the lease',
    'holding.resting': 'until the next renewal',
    'holding.renewing': 'renewing',
    'holding.retrying': 'before the renewal is tried again',
    ending: 'ending the server',
    stuck: 'the server is not proven gone',
    releasing: 'giving the lease back',
    over: 'over',
  },
  quiet: [],
  events: {
    'lease.wanted': 'a connection needs the server',
    'lease.unwanted': 'no connection needs the server',
    'holder.changed': 'another host has taken or given back the lease',
  },
  delays: { ask: 'the pause between requests', renew: 'a third of the lease', retry: 'a short pause' },
  actors: {
    acquireLease: 'requesting the lease',
    renewLease: 'renewing the lease',
    keepTerm: 'watching the time that is left',
    endServer: 'killing the server',
    releaseLease: 'returning the lease',
  },
  guards: {
    hasCrashed: 'the former actor died',
    isGiven: 'the lease was given',
    isGone: 'nothing of the server is left',
    isHeld: 'the lease goes on',
    isWanted: 'a connection needs it',
  },
  actions: {
    forgetLease: 'forget the token',
    recordLease: 'record the token',
    unwant: 'note that nobody needs it',
    want: 'note that it is needed',
  },
  fields: {
    server: 'server',
    policy: 'limits',
    ttlMs: 'time to live of the lease',
    renewMs: 'pause between renewals',
    retryMs: 'pause after a failed renewal',
    askMs: 'pause between requests',
    token: 'token of the lease',
    wanted: 'a connection needs it',
    crashed: 'the former actor died',
  },
};
