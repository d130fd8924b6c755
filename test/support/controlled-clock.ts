/** The controlled clock of `mcp-troupe/testing`. */
export { createControlledClock, type ControlledClock } from '../../src/testing/controlled-clock.js';
