/**
 * `ready`: the server can be used. Six regions run in parallel: liveness, the list of tools, the other lists, the stream of
 * changes, the successor after a change of the entry, and the retirement of the former session.
 */
import { listGroup } from './connection.lists.js';
import { connection, watchLimits } from './connection.setup.js';
import { subscription } from './connection.subscription.js';
import { retirement, succession } from './connection.successor.js';
import {
  adopted,
  alreadySo,
  boundedBy,
  expected,
  failureOf,
  inUse,
  lossOf,
  policyOf,
  sessionKey,
  sessionLost,
  shutdownCommands,
} from './connection.transitions.js';

const liveness = connection.createStateConfig({
  initial: 'resting',
  on: {
    'session.unreachable': [
      {
        guard: { type: 'isUnreachable', params: ({ event }) => ({ count: event.count }) },
        actions: { type: 'giveUpSession', params: lossOf },
      },
      expected,
    ],
    'session.quiet': expected,
  },
  states: {
    resting: {
      description: 'The server was heard from recently, or owes no answer.',
      on: { 'session.quiet': 'probing', 'clock.jumped': 'probing' },
    },
    probing: {
      description: 'A ping has been sent.',
      tags: 'probing',
      invoke: {
        id: 'probe',
        src: 'probe',
        input: boundedBy((policy) => policy.ping.timeoutMs),
        onDone: 'resting',
        onError: 'suspect',
      },
    },
    suspect: {
      description: 'A ping was missed and another one sent. A second miss ends the session.',
      tags: 'suspect',
      invoke: {
        id: 'probeAgain',
        src: 'probe',
        input: boundedBy((policy) => policy.ping.timeoutMs),
        onDone: 'resting',
        onError: sessionLost(failureOf),
      },
    },
  },
});

const tools = listGroup('tools', 'catalog.listChanged', 'refreshing');

/** If a list cannot be read or adopted, the old one stays. */
const notRefreshed = [
  { guard: tools.hasChanged, target: '#connection.ready.catalog.debouncing' },
  { target: '#connection.ready.catalog.stale' },
] as const;

const catalog = connection.createStateConfig({
  initial: 'current',
  states: {
    current: {
      description: 'The list of tools is up to date.',
      on: {
        'catalog.listed': 'adopting',
        'catalog.listChanged': tools.changed,
        'connection.refresh': 'refreshing',
      },
    },
    adopting: {
      description: 'The list that the successor has read becomes the catalog and is reviewed.',
      tags: 'refreshing',
      invoke: {
        id: 'adoptSuccessor',
        src: 'adoptTools',
        input: sessionKey,
        onDone: [
          {
            guard: tools.hasChanged,
            target: 'debouncing',
            actions: [...adopted(inUse), 'emitReady'],
          },
          { target: 'current', actions: [...adopted(inUse), 'emitReady'] },
        ],
        onError: [
          { guard: tools.hasChanged, target: 'debouncing', actions: 'emitReady' },
          { target: 'stale', actions: 'emitReady' },
        ],
      },
      on: { 'catalog.listChanged': tools.noted, 'connection.refresh': alreadySo },
    },
    debouncing: tools.debouncing,
    refreshing: {
      description: 'All pages of the list are read again, and it becomes the catalog.',
      initial: 'reading',
      tags: 'refreshing',
      entry: tools.begin,
      on: { 'catalog.listChanged': tools.noted, 'connection.refresh': alreadySo },
      states: {
        reading: {
          invoke: {
            id: 'refreshTools',
            src: 'readTools',
            input: boundedBy((policy) => policy.listTimeoutMs),
            onDone: 'adopting',
            onError: notRefreshed,
          },
        },
        adopting: {
          invoke: {
            id: 'adoptRefreshed',
            src: 'adoptTools',
            input: sessionKey,
            onDone: [
              {
                guard: tools.hasChanged,
                target: '#connection.ready.catalog.debouncing',
                actions: adopted(inUse),
              },
              { target: '#connection.ready.catalog.current', actions: adopted(inUse) },
            ],
            onError: notRefreshed,
          },
        },
      },
    },
    stale: {
      description: 'The last refresh failed; the old list stays until the next change or a refresh.',
      tags: 'stale',
      on: { 'catalog.listChanged': tools.changed, 'connection.refresh': 'refreshing' },
    },
  },
});

const extraLists = listGroup('extras', 'catalog.extrasChanged', 'listing');

const extrasRead = [{ guard: extraLists.hasChanged, target: 'debouncing' }, { target: 'none' }] as const;

const extras = connection.createStateConfig({
  initial: 'listing',
  states: {
    none: {
      description: 'No other list is known to have changed.',
      on: { 'catalog.extrasChanged': extraLists.changed, 'connection.refresh': 'listing' },
    },
    debouncing: extraLists.debouncing,
    listing: {
      description:
        'Reads resources, templates and prompts, and restores subscriptions and the log level. Best effort.',
      tags: 'enriching',
      entry: extraLists.begin,
      invoke: {
        id: 'enrichCatalog',
        src: 'enrichCatalog',
        input: ({ context }) => ({
          name: context.name,
          generation: context.generation,
          limitMs: context.policy.listTimeoutMs,
          lists: context.extras.reading,
        }),
        onDone: extrasRead,
        onError: extrasRead,
      },
      on: { 'catalog.extrasChanged': extraLists.noted },
    },
  },
});

export const ready = connection.createStateConfig({
  description: 'The server can be used.',
  type: 'parallel',
  tags: ['settled', 'attempted', 'usable'],
  entry: ['enterReady', 'reportSettled'],
  invoke: {
    id: 'watchSession',
    src: 'watchSession',
    input: ({ context }) => ({
      name: context.name,
      generation: context.generation,
      ...watchLimits(context.policy),
    }),
  },
  on: {
    ...shutdownCommands,
    'connection.start': alreadySo,
    'session.lost': sessionLost(lossOf),
    'session.stable': { actions: 'forgetAttempts' },
    'session.idle': expected,
    'policy.changed': {
      actions: [
        { type: 'applyPolicy', params: policyOf },
        { type: 'changeWatchLimits', params: policyOf },
      ],
    },
  },
  states: { liveness, catalog, extras, subscription, succession, retirement },
});
