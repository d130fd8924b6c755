/** All charts by name, for code that draws, hashes or replays them. */
import { configurationMachine } from './configuration/configuration.machine.js';
import { connectionMachine } from './connection/connection.machine.js';
import { leaseMachine } from './lease/lease.machine.js';
import { managerMachine } from './manager/manager.machine.js';
import { reviewMachine } from './review/review.machine.js';
import { signInMachine } from './sign-in/sign-in.machine.js';

/** The charts of auxiliary machines, by the kind that their ids begin with. */
export const ROOT_CHARTS = {
  configuration: configurationMachine,
  signIn: signInMachine,
  lease: leaseMachine,
} as const;

/** The charts that are recorded. */
export const RECORDED_CHARTS = {
  connection: connectionMachine,
  manager: managerMachine,
  ...ROOT_CHARTS,
} as const;

export const CHARTS = { ...RECORDED_CHARTS, review: reviewMachine } as const;
