/** The clock of the testing kit, where the tests look for it. */
export { createControlledClock, type ControlledClock } from '../../src/testing/controlled-clock.js';
