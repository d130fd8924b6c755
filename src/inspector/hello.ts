/** The first message of every stream: the sender, and its charts. */
import type { AnyStateMachine } from 'xstate';
import { CHARTS } from '../../machines/charts.js';
import { PACKAGE } from '../package.js';
import { chartHash } from '../charts/chart-hash.js';
import { chartModel } from '../charts/chart-model.js';
import { INSPECTION_PROTOCOL, type Hello } from './page-protocol.js';

let charts: Hello['charts'] | undefined;

export function makeHello(mode: Hello['mode'], title: string, at: number): Hello {
  charts ??= Object.fromEntries(
    Object.entries<AnyStateMachine>(CHARTS).map(([name, machine]) => {
      const model = chartModel(machine);
      return [name, { hash: chartHash(model), model }];
    }),
  );
  return { kind: 'hello', protocol: INSPECTION_PROTOCOL, package: PACKAGE, mode, title, charts, at };
}
