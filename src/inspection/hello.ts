/** The first message of every stream: who speaks, and the charts that it speaks of. */
import { connectionMachine } from '../../machines/connection.machine.js';
import { managerMachine } from '../../machines/manager.machine.js';
import { reviewMachine } from '../../machines/review.machine.js';
import { PACKAGE } from '../package.js';
import { chartHash } from './chart-hash.js';
import { chartModel } from './chart-model.js';
import { INSPECTION_PROTOCOL, type Hello } from './protocol.js';

let charts: Hello['charts'] | undefined;

export function makeHello(mode: Hello['mode'], title: string, at: number): Hello {
  charts ??= Object.fromEntries(
    [managerMachine, connectionMachine, reviewMachine].map((machine) => {
      const model = chartModel(machine);
      return [machine.id, { hash: chartHash(model), model }];
    }),
  );
  return { kind: 'hello', protocol: INSPECTION_PROTOCOL, package: PACKAGE, mode, title, charts, at };
}
