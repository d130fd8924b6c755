/**
 * The steps of a run as data: the same seed and numbers give the same plan. Independent of troupe and clock.
 *
 * A step is `{ at, does, to, forMs, … }`: milliseconds from the start, a name of `ACTIONS`, its server (if it affects a
 * single one), and its duration.
 */
import { SeededRandom } from './seeded-random.mjs';

/** Steps per second for each connection, and the limits of their sum, which two cores can handle. */
const STEPS_PER_CONNECTION = 1 / 25;
const FEWEST_STEPS = 4;
const MAX_STEPS = 8;

const SHORT_MS = [100, 800];
const LONG_MS = [500, 4_000];

/** `to`: the kinds of server; missing if a step affects all servers. `lasts`: a range of milliseconds. */
const DECK = [
  ...moods(
    ['stdio', 'http', 'memory'],
    [
      { name: 'silent' },
      { name: 'slow', ms: 300 },
      { name: 'cuts-before', how: 'exit' },
      { name: 'cuts-after', how: 'exit' },
      { name: 'refuses' },
    ],
  ),
  ...moods(
    ['stdio'],
    [
      { name: 'cuts-before', how: 'stdout' },
      { name: 'cuts-after', how: 'stdout' },
      { name: 'stubborn' },
      { name: 'babbles' },
    ],
  ),
  ...moods(['memory'], [{ name: 'stuck' }, { name: 'throws' }]),
  { does: 'kill', with: { signal: 'SIGKILL' }, to: ['stdio'], weight: 10 },
  { does: 'kill', with: { signal: 'SIGTERM' }, to: ['stdio'], weight: 4 },
  { does: 'freeze', to: ['stdio'], lasts: LONG_MS, weight: 4 },
  { does: 'cut', to: ['http', 'memory'], weight: 12 },
  { does: 'forgetSessions', to: ['http'], weight: 6 },
  { does: 'refuseConnections', to: ['http'], lasts: LONG_MS, weight: 5 },
  { does: 'sendListChanged', to: ['memory'], weight: 4 },
  { does: 'restart', to: ['stdio', 'http', 'memory'], weight: 6 },
  { does: 'stop', to: ['stdio', 'http', 'memory'], lasts: SHORT_MS, weight: 5 },
  { does: 'retry', to: ['stdio', 'http', 'memory'], weight: 5 },
  { does: 'refresh', to: ['stdio', 'http', 'memory'], weight: 4 },
  { does: 'remove', to: ['stdio', 'http', 'memory'], lasts: SHORT_MS, weight: 4 },
  { does: 'reload', weight: 2 },
  { does: 'network', lasts: LONG_MS, weight: 1 },
  { does: 'restartHost', lasts: SHORT_MS, weight: 0.3 },
  { does: 'freezeHost', lasts: LONG_MS, weight: 0.3 },
];

/** Maximum number of servers that a reload changes, and that it leaves out until the next. */
const EDITED = 3;
const LEFT_OUT = 2;

function moods(to, list) {
  return list.map((mood) => ({ does: 'mood', with: { mood }, to, lasts: LONG_MS, weight: 2 }));
}

/** Steps in order of time. If there is enough time, each step of the deck occurs before the first one repeats. */
export function makePlan({ seed, names, durationMs }) {
  const random = new SeededRandom(seed);
  const count = Object.values(names).flat().length;
  const everyMs = 1_000 / Math.min(MAX_STEPS, Math.max(FEWEST_STEPS, count * STEPS_PER_CONNECTION));
  const dealt = random.shuffled(DECK);
  const steps = [];
  for (
    let at = random.between(0, everyMs);
    at < durationMs;
    at += random.between(everyMs / 2, everyMs * 1.5)
  ) {
    const card = dealt.pop() ?? random.pickWeighted(DECK);
    steps.push(toStep(card, at, names, random));
  }
  return steps;
}

function toStep(card, at, names, random) {
  const { does, with: details = {}, to = [], lasts = [0, 0] } = card;
  const step = { at, does, forMs: random.between(...lasts), ...details };
  if (to.length > 0) step.to = random.pick(to.flatMap((kind) => names[kind]));
  if (does === 'reload') Object.assign(step, toReload(Object.values(names).flat(), random));
  return step;
}

function toReload(names, random) {
  const order = random.shuffled(names);
  const edited = order.splice(0, random.between(0, Math.min(EDITED, order.length)));
  return { edited, leftOut: order.splice(0, random.between(0, Math.min(LEFT_OUT, order.length))) };
}
