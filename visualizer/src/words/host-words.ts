/** The words for hosts of a fleet. */
import type { InspectedHost } from '../../../src/inspector/page-protocol.js';

export const HOST_STATES: Readonly<Record<InspectedHost['state'], string>> = {
  up: 'up',
  draining: 'draining',
  gone: 'gone',
};

/** What each state means. */
export const HOST_MEANINGS: Readonly<Record<InspectedHost['state'], string>> = {
  up: 'It says every five seconds that it is there.',
  draining: 'It takes no new sessions.',
  gone: 'It has left, or has said nothing for 15 seconds.',
};

/** Why a host does not open. */
export const NO_ADDRESS = 'no address: it cannot be opened from here';
export const OTHER_VERSION = 'other version';
export const OTHER_CHARTS = 'other charts';
