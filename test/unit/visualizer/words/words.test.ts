/** The words of the page: every name that a chart or a log has is known, and no two names share their words. */
import { describe, expect, it } from 'vitest';
import { CHARTS } from '../../../../machines/charts.js';
import { allStates, shortId, transitionsOf } from '../../../../src/charts/chart-lookup.js';
import { chartModel, type ChartState } from '../../../../src/charts/chart-model.js';
import { CAUSE_KINDS } from '../../../../src/event-log/format/entry.js';
import { chartContent, wordsOf } from '../../../../visualizer/src/chart/chart-content.js';
import { CATEGORIES } from '../../../../visualizer/src/log/labels.js';
import type { ChartWords } from '../../../../visualizer/src/words/chart-words.js';
import { ENTRY_WORDS, kindWords, REASON_WORDS } from '../../../../visualizer/src/words/entry-words.js';
import { CHART_WORDS, Names, namesOf } from '../../../../visualizer/src/words/names.js';
import { valueWords } from '../../../../visualizer/src/words/values.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { SAMPLE_ENTRIES } from '../../../support/sample-log.js';
import { FILLED } from './filled-contexts.js';

useLeakCheck();

type Part = Exclude<keyof ChartWords, 'title' | 'quiet'>;
type Found = Record<Part, Set<string>>;

/** Names that XState makes; their words come from the names within. */
const OF_XSTATE = /^(?:$|xstate\.(?:done|error)\.actor\.[^*]|xstate\.after\.)/;
const NAME = /[\w.]+/g;
const IN_A_GUARD = new Set(['and', 'or', 'not', 'in']);

/** The names of the fields of a value, at any depth. */
function fieldsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  return Object.entries(value).flatMap(([name, below]) => [name, ...fieldsOf(below)]);
}

function namesIn(chart: string, machine: (typeof CHARTS)[keyof typeof CHARTS]): Found {
  const model = chartModel(machine);
  const found: Found = {
    states: new Set(),
    events: new Set(),
    delays: new Set(Object.keys(machine.implementations.delays ?? {})),
    actors: new Set(),
    guards: new Set(),
    actions: new Set(),
    fields: new Set(fieldsOf(FILLED[chart])),
  };
  for (const state of allStates(model)) {
    if (state !== model.root) found.states.add(shortId(model, state.id));
    for (const { id } of state.invokes) found.actors.add(id);
    for (const action of [...state.entry, ...state.exit]) found.actions.add(action);
    for (const { eventType, guard, actions } of transitionsOf(model, state)) {
      if (!OF_XSTATE.test(eventType)) found.events.add(eventType);
      for (const action of actions) found.actions.add(action);
      for (const [name] of (guard ?? '').matchAll(NAME)) if (!IN_A_GUARD.has(name)) found.guards.add(name);
    }
  }
  return found;
}

/** Groups of names that a person sees together, so that they must differ. */
function* groupsOf(chart: string): Generator<readonly string[]> {
  const words = CHART_WORDS[chart];
  if (words === undefined) return;
  const within = (state: ChartState): readonly string[] =>
    state.states.map((each) => new Names(chart, false).state(each));
  const { root } = chartModel(CHARTS[chart as keyof typeof CHARTS]);
  for (const state of allStates({ root, edges: [] })) yield within(state);
  for (const part of ['events', 'delays', 'actors', 'guards', 'actions'] as const)
    yield Object.values(words[part]);
  const names = new Names(chart, false);
  const objects = (value: unknown): readonly object[] =>
    typeof value !== 'object' || value === null ? [] : [value, ...Object.values(value).flatMap(objects)];
  for (const object of objects(FILLED[chart]))
    if (!Array.isArray(object)) yield Object.keys(object).map((name) => names.field(name));
}

const CASES = Object.entries(CHARTS);

describe('the words of a chart', () => {
  it('exist for every chart.', () => {
    expect(Object.keys(CHART_WORDS).toSorted()).toEqual(Object.keys(CHARTS).toSorted());
  });

  it.each(CASES)('name everything in the chart of %s, and nothing else.', (chart, machine) => {
    const found = namesIn(chart, machine);
    const words = CHART_WORDS[chart];
    expect(words?.quiet.filter((state) => !found.states.has(state))).toEqual([]);
    for (const part of Object.keys(found) as Part[]) {
      const known = Object.keys(words?.[part] ?? {});
      const missing = [...found[part]].filter(
        (name) => !known.includes(name) && !(part === 'fields' && Object.hasOwn(ENTRY_WORDS, name)),
      );
      expect({ part, missing }).toEqual({ part, missing: [] });
      expect({ part, stale: known.filter((name) => !found[part].has(name)) }).toEqual({ part, stale: [] });
    }
  });

  it.each(CASES)('differ for all names in the chart of %s that are seen together.', (chart) => {
    const shared = [...groupsOf(chart)].flatMap((words) =>
      words.filter((each, index) => words.indexOf(each) !== index),
    );
    expect(shared).toEqual([]);
  });

  it.each(CASES)('leave no name of a program in the picture of %s.', (chart, machine) => {
    const model = chartModel(machine);
    const { rows, lines } = chartContent(model, new Set(), namesOf(chart, false));
    const texts = [...rows.values(), ...lines.map(({ labels }) => labels)].flat().map(wordsOf);
    const titles = allStates(model)
      .slice(1)
      .map((state) => namesOf(chart, false).state(state));
    expect(texts.length).toBeGreaterThan(5);
    expect([...texts, ...titles].filter((text) => /[a-z][A-Z]|\w\.\w|xstate|_/.test(text))).toEqual([]);
    const raw = chartContent(model, new Set(), namesOf(chart, true));
    expect([...raw.rows.values()].flat().map(wordsOf).join()).toMatch(/[a-z][A-Z]/);
  });
});

describe('the words of a log', () => {
  it('name every kind and category, every reason, and every field of an entry.', () => {
    const kinds = [...CAUSE_KINDS, 'snapshot', 'note'].map((kind) => kindWords('other', kind));
    expect(new Set(kinds).size).toBe(6);
    expect(new Set(CATEGORIES.map((category) => kindWords(category, ''))).size).toBe(CATEGORIES.length);
    expect(Object.keys(REASON_WORDS)).toEqual(['unhandled', 'guarded', 'ignored', 'stopped']);
    const fields = new Set(SAMPLE_ENTRIES.flatMap((entry) => Object.keys(entry)));
    expect([...fields].filter((name) => !Object.hasOwn(ENTRY_WORDS, name))).toEqual([]);
  });

  it('say what an event of XState means.', () => {
    const { event } = { event: (type: string) => namesOf('connection', false).event(type) };
    expect(event('xstate.done.actor.releaseSession')).toBe('release of the old session: done');
    expect(event('xstate.error.actor.openTransport')).toBe('opening the transport: failed');
    expect(event('xstate.after.backoffDelay.connection.reconnecting.backingOff')).toBe(
      'after the wait between attempts',
    );
    expect(namesOf('manager', false).event('xstate.done.actor.files')).toBe('files ended');
    expect(namesOf('connection', true).event('session.lost')).toBe('session.lost');
  });

  it('keep the names of charts and logs that the page does not know.', () => {
    const names = namesOf('toString', false);
    expect(names.title).toBe('toString');
    expect(names.event('constructor')).toBe('constructor');
    expect(names.field('__proto__')).toBe('__proto__');
    expect(names.stateValue({ a: 'b' })).toBe('a.b');
    expect(namesOf('connection', false).stateValue('__proto__')).toBe('__proto__');
  });

  it('describe a state with its regions.', () => {
    const ready = {
      ready: {
        liveness: 'resting',
        catalog: 'current',
        extras: 'none',
        subscription: 'none',
        succession: 'none',
        retirement: 'none',
      },
    };
    expect(namesOf('connection', false).stateValue(ready)).toBe(
      'ready: heard from recently, tools up to date',
    );
    expect(namesOf('connection', true).stateValue(ready)).toBe('ready.resting+current');
    const slow = { failed: { exhausted: 'retryingSlowly' } };
    expect(namesOf('connection', false).stateValue(slow)).toBe(
      'failed: out of attempts, retrying later or on request',
    );
    const running = { phase: 'running', starts: 'granting', budget: 'full', network: 'online' };
    expect(namesOf('manager', false).stateValue(running)).toBe(
      'running, granting starts, retry budget full, network up',
    );
  });

  it('show times with their day, and durations with their unit.', () => {
    const at = new Date(2026, 4, 12, 8, 30, 7, 120).getTime();
    expect(valueWords('dueAt', at)).toBe('May 12, 2026, 08:30:07.120');
    expect(valueWords('losses', at)).toBe('May 12, 2026, 08:30:07.120');
    expect(valueWords('startGateMs', 30_000)).toBe('30 s');
    expect(valueWords('attempt', 3)).toBeUndefined();
    expect(valueWords('at', 12)).toBeUndefined();
  });
});
