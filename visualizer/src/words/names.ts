/**
 * What the page calls the things of a chart: in words, or by their own names if a person prefers those. A chart or a
 * name that this page does not know keeps its own name.
 */
import type { StateValue } from 'xstate';
import { statePath } from '../../../machines/connection/public-state.js';
import { delayOf } from '../../../src/charts/chart-labels.js';
import type { ChartBranch } from '../../../src/charts/chart-lookup.js';
import type { ChartState } from '../../../src/charts/chart-model.js';
import type { ChartWords } from './chart-words.js';
import { configurationWords } from './configuration-words.js';
import { connectionWords } from './connection-words.js';
import { ENTRY_WORDS, EVENT_WORDS } from './entry-words.js';
import { leaseWords } from './lease-words.js';
import { managerWords } from './manager-words.js';
import { reviewWords } from './review-words.js';
import { signInWords } from './sign-in-words.js';

export const CHART_WORDS: Readonly<Record<string, ChartWords>> = {
  connection: connectionWords,
  manager: managerWords,
  configuration: configurationWords,
  signIn: signInWords,
  lease: leaseWords,
  review: reviewWords,
};

const NO_WORDS: ChartWords = {
  title: '',
  states: {},
  quiet: [],
  events: {},
  delays: {},
  actors: {},
  guards: {},
  actions: {},
  fields: {},
};

/** A log may name anything, such as `__proto__`. */
function wordsIn(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

const IN_A_GUARD: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in']);

const valueBelow = (value: StateValue) => (typeof value === 'string' ? { [value]: {} } : value);
const isParallel = (value: StateValue): boolean => Object.keys(valueBelow(value)).length > 1;

export class Names {
  readonly #chart: string;
  readonly #words: ChartWords;

  constructor(
    chart: string,
    readonly isRaw: boolean,
  ) {
    this.#chart = chart;
    this.#words = !isRaw && Object.hasOwn(CHART_WORDS, chart) ? (CHART_WORDS[chart] ?? NO_WORDS) : NO_WORDS;
  }

  get title(): string {
    return this.#words.title === '' ? this.#chart : this.#words.title;
  }

  state({ id, key }: Pick<ChartState, 'id' | 'key'>): string {
    return wordsIn(this.#words.states, id.slice(this.#chart.length + 1)) ?? key;
  }

  /** Everything that is active. */
  stateValue(value: StateValue): string {
    if (this.#words === NO_WORDS) return statePath(value);
    const [outer = '', ...inner] = this.#active(value, '');
    if (inner.length === 0) return outer;
    return isParallel(value) ? [outer, ...inner].join(', ') : `${outer}: ${inner.join(', ')}`;
  }

  #active(value: StateValue, path: string): string[] {
    return Object.entries(valueBelow(value)).flatMap(([key, inner = {}]) => {
      const own = `${path}${key}`;
      if (this.#words.quiet.includes(own)) return [];
      const below = this.#active(inner, `${own}.`);
      // The name of a region says nothing about its state.
      return isParallel(value) ? below : [wordsIn(this.#words.states, own) ?? key, ...below];
    });
  }

  /** An event by its type, as it is in a log. */
  event(type: string): string {
    if (this.isRaw) return type;
    const known = wordsIn(this.#words.events, type) ?? wordsIn(EVENT_WORDS, type);
    if (known !== undefined) return known;
    const [, outcome, id = ''] = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type) ?? [];
    if (outcome !== undefined) return this.#ended(id, outcome === 'done');
    const [, delay] = /^xstate\.after\.([^.]+)\./.exec(type) ?? [];
    return delay === undefined ? type : this.#after(delay);
  }

  #ended(actor: string, isDone: boolean): string {
    const words = wordsIn(this.#words.actors, actor);
    if (words !== undefined) return `${words}: ${isDone ? 'done' : 'failed'}`;
    return `${actor} ${isDone ? 'ended' : 'failed'}`;
  }

  #after(delay: string): string {
    const ms = /^\d+$/.test(delay) ? `${delay} ms` : delay;
    return `after ${wordsIn(this.#words.delays, delay) ?? ms}`;
  }

  /** The event of a transition. If only one actor runs in its state, the actor's end needs no name. */
  transition({ invokes }: ChartState, { kind, text, eventType, source }: ChartBranch): string {
    const isOnlyActor = invokes.length === 1 && (kind === 'done' || kind === 'error');
    if (this.#words === NO_WORDS) return isOnlyActor ? kind : text;
    if (isOnlyActor) return kind === 'done' ? 'done' : 'failed';
    if (kind === 'always') return 'at once';
    const delay = delayOf(eventType, source);
    return delay === null ? this.event(eventType) : this.#after(delay);
  }

  /** A guard is an expression of names. */
  guard(guard: string): string {
    return guard.replace(/[\w.]+/g, (name) =>
      IN_A_GUARD.has(name) ? name : (wordsIn(this.#words.guards, name) ?? name),
    );
  }

  action(action: string): string {
    return wordsIn(this.#words.actions, action) ?? action;
  }

  actor({ id, src }: { readonly id: string; readonly src: string }): string {
    return wordsIn(this.#words.actors, id) ?? src;
  }

  /** A field of the context, or of an entry of the log. */
  field(name: string): string {
    if (this.isRaw) return name;
    return wordsIn(this.#words.fields, name) ?? wordsIn(ENTRY_WORDS, name) ?? name;
  }

  /** A field by its path, parts joined by dots. */
  path(path: string): string {
    return path
      .split('.')
      .map((name) => this.field(name))
      .join(' › ');
  }
}

const made = new Map<string, Names>();

/** There is one for each chart and choice, so that they can be compared. */
export function namesOf(chart: string, isRaw: boolean): Names {
  const key = `${chart} ${isRaw}`;
  const names = made.get(key) ?? new Names(chart, isRaw);
  made.set(key, names);
  return names;
}
