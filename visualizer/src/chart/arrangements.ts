/** How the charts of this package are arranged and colored. Their content always comes from the machine. */
import type { ChartModel } from '../../../src/charts/chart-model.js';

export interface Arrangement {
  /** Keys of the machine's states, row by row. */
  readonly rows: readonly (readonly string[])[];
  /** Keys of the machine's states whose children run from left to right. */
  readonly acrossIn: readonly string[];
}

export type Tone = 'work' | 'good' | 'warn' | 'bad' | 'rest' | 'plain';

const NONE: Arrangement = { rows: [], acrossIn: [] };

const CONNECTION: Arrangement = {
  rows: [['configuring', 'starting'], ['ready'], ['reconnecting', 'failed'], ['shuttingDown', 'stopped']],
  acrossIn: ['configuring', 'starting'],
};

const TONES: Readonly<Record<string, Tone>> = {
  configuring: 'work',
  launching: 'work',
  handshaking: 'work',
  ready: 'good',
  reconnecting: 'warn',
  failed: 'bad',
  shuttingDown: 'rest',
  stopped: 'rest',
  idle: 'rest',
  reading: 'work',
  starting: 'work',
  running: 'good',
  closing: 'rest',
  recalling: 'work',
  judged: 'good',
  keeping: 'work',
  blind: 'bad',
  unseen: 'rest',
  quiet: 'good',
  changed: 'work',
  applying: 'work',
  unreadable: 'warn',
  begun: 'rest',
  closed: 'rest',
  token: 'good',
  signIn: 'work',
  waiting: 'work',
  holding: 'good',
  ending: 'warn',
  stuck: 'bad',
  releasing: 'rest',
  over: 'rest',
};

/** The tone of a state of a machine, by its key. */
export function toneOf(key: string): Tone {
  return TONES[key] ?? 'plain';
}

/** A chart with other states than the arrangement was made for is not arranged. */
export function arrangementOf(model: ChartModel): Arrangement {
  const keys = model.root.states.map(({ key }) => key).toSorted();
  return keys.join() === CONNECTION.rows.flat().toSorted().join() ? CONNECTION : NONE;
}
