/**
 * How each machine is laid out and colored in its picture. The content always comes from the machine.
 */

/** @type {Readonly<Record<string, import('./chart-svg.mjs').Style>>} */
export const STYLES = {
  connection: {
    rows: [
      ['configuring', 'launching'],
      ['handshaking', 'ready'],
      ['reconnecting', 'failed', 'shuttingDown', 'stopped'],
    ],
    acrossIn: ['configuring', 'launching'],
    tones: {
      configuring: 'work',
      launching: 'work',
      handshaking: 'work',
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
  manager: { tones: { starting: 'work', running: 'good', stopping: 'rest', stopped: 'rest' } },
};
