/** The charts that this page folds by, for logs that come without any. */
import { connectionMachine } from '../../../machines/connection.machine.js';
import { managerMachine } from '../../../machines/manager.machine.js';
import { reviewMachine } from '../../../machines/review.machine.js';
import { chartHash } from '../../../src/inspection/chart-hash.js';
import { chartModel } from '../../../src/inspection/chart-model.js';
import type { Charts } from './desk-messages.js';

export function ownCharts(): Charts {
  const machines = { connection: connectionMachine, manager: managerMachine, review: reviewMachine };
  return Object.fromEntries(
    Object.entries(machines).map(([name, machine]) => {
      const model = chartModel(machine);
      return [name, { hash: chartHash(model), model }];
    }),
  );
}
