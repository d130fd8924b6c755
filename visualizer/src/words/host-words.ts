/** The words for hosts of a fleet. */
import type { InspectedHost } from '../../../src/inspector/page-protocol.js';

export const HOST_STATES: Readonly<Record<InspectedHost['state'], string>> = {
  up: 'up',
  draining: 'draining',
  gone: 'gone',
};

/** What each state means. */
export const HOST_MEANINGS: Readonly<Record<InspectedHost['state'], string>> = {
  up: 'It announces itself every five seconds.',
  draining: 'It takes no new sessions.',
  gone: 'It has left, or was silent for 15 seconds.',
};

/** Why a host does not open. */
export const NO_ADDRESS = 'no address: it cannot be opened from here';
export const OTHER_VERSION = 'other version';
export const OTHER_CHARTS = 'other charts';
