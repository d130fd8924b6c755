/** Words for the chart of the configuration. */
import type { ChartWords } from './chart-words.js';

export const configurationWords: ChartWords = {
  title: 'configuration',
  states: {
    begun: 'beginning',
    quiet: 'up to date',
    changed: 'files changed, waiting for more changes',
    applying: 'applying',
    unreadable: 'unreadable',
    'unreadable.retrying': 'retrying shortly',
    'unreadable.waiting': 'waiting for a change',
    failed: 'not applied',
    closed: 'closed',
  },
  quiet: [],
  events: {
    'files.changed': 'files changed',
    'reload.asked': 'reload requested',
    'watch.failed': 'files cannot be watched',
    'configuration.close': 'close requested',
  },
  delays: { rest: 'a pause in the changes', retry: 'a short wait' },
  actors: {
    applyConfiguration: 'reading and applying',
    watchFiles: 'watching files',
  },
  guards: {
    canRead: 'every file was read',
    hasAsked: 'another reload requested',
    hasChanged: 'changed meanwhile',
    isOutOfRetries: 'out of retries',
    isReadable: 'every file was read at the start',
  },
  actions: {
    beginReading: 'begin reading',
    countRetry: 'count the retry',
    emitUnapplied: 'publish: not applied',
    emitUnwatched: 'publish: not watched',
    forgetRetries: 'forget retries',
    noteAsked: 'note the request',
    noteChange: 'note the change',
    recordReading: 'record the result',
    watchAnew: 'watch the files that it names now',
  },
  fields: {
    policy: 'limits',
    restMs: 'pause before changes are read',
    mostMs: 'changes are read at the latest after',
    retryAfterMs: 'waits before retries',
    readable: 'every file was read',
    changedAt: 'first unread change',
    seenAt: 'last unread change',
    asked: 'reloads requested',
    serving: 'the reload was requested',
    retries: 'retries since the last change',
  },
};
