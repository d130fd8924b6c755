/** The charts of this page, for logs without charts. */
import type { AnyStateMachine } from 'xstate';
import { CHARTS } from '../../../machines/charts.js';
import { chartHash } from '../../../src/charts/chart-hash.js';
import { chartModel } from '../../../src/charts/chart-model.js';
import type { Charts } from './desk-messages.js';

export function ownCharts(): Charts {
  return Object.fromEntries(
    Object.entries<AnyStateMachine>(CHARTS).map(([name, machine]) => {
      const model = chartModel(machine);
      return [name, { hash: chartHash(model), model }];
    }),
  );
}
