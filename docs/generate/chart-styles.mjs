/**
 * How each machine is laid out and colored in its picture. The content always comes from the machine.
 */

/** @type {Readonly<Record<string, import('./chart-svg.mjs').Style>>} */
export const STYLES = {
  connection: {
    rows: [['configuring', 'starting'], ['ready'], ['reconnecting', 'failed'], ['shuttingDown', 'stopped']],
    acrossIn: ['configuring', 'starting'],
    tones: {
      configuring: 'work',
      starting: 'work',
      ready: 'good',
      reconnecting: 'warn',
      failed: 'bad',
      shuttingDown: 'rest',
      stopped: 'rest',
    },
  },
  review: {
    tones: { recalling: 'work', judged: 'good', keeping: 'work', blind: 'bad', unseen: 'rest' },
  },
  configuration: {
    tones: {
      begun: 'rest',
      quiet: 'good',
      changed: 'work',
      applying: 'work',
      unreadable: 'warn',
      failed: 'bad',
      closed: 'rest',
    },
  },
  lease: {
    tones: {
      beginning: 'rest',
      waiting: 'work',
      holding: 'good',
      ending: 'warn',
      stuck: 'bad',
      releasing: 'rest',
      over: 'rest',
    },
  },
  signIn: { tones: { token: 'good', signIn: 'work' } },
};
