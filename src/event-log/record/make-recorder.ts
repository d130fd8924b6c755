/** Makes a recorder for the charts of this package. Loaded with the first recording. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { AnyStateMachine } from 'xstate';
import { RECORDED_CHARTS } from '../../../machines/charts.js';
import type { ManagerInput } from '../../../machines/manager/manager.events.js';
import { chartHash } from '../../charts/chart-hash.js';
import { chartModel } from '../../charts/chart-model.js';
import { PACKAGE } from '../../package.js';
import { LOG_FORMAT, POLICY_VERSION, type LogHeader } from '../format/entry.js';
import { Recorder, type RecorderParts } from './recorder.js';

export { createLogFile } from './file-store.js';

export interface Recorded extends Omit<RecorderParts, 'facts'> {
  readonly seed: number;
  /** Name of this computer in the header; false leaves it out. Default: the one of the system. */
  readonly host?: string | false | undefined;
  /** The input of the manager. */
  readonly input: ManagerInput;
}

export function makeRecorder({ seed, host = hostname(), input, ...parts }: Recorded): Recorder {
  return new Recorder({
    ...parts,
    facts: {
      troupeLog: LOG_FORMAT,
      package: PACKAGE,
      policyVersion: POLICY_VERSION,
      machines: currentCharts(),
      run: randomUUID(),
      ...(host !== false && { host }),
      pid: process.pid,
      seed,
      input: { ...input },
      options: {},
    },
  });
}

let current: LogHeader['machines'] | undefined;

/** The hashes of the present charts. */
export function currentCharts(): LogHeader['machines'] {
  current ??= hashesOf(RECORDED_CHARTS);
  return current;
}

function hashesOf<TName extends string>(
  charts: Readonly<Record<TName, AnyStateMachine>>,
): Readonly<Record<TName, string>> {
  const hashes = Object.entries<AnyStateMachine>(charts).map(([name, machine]) => [
    name,
    chartHash(chartModel(machine)),
  ]);
  return Object.fromEntries(hashes) as Readonly<Record<TName, string>>;
}
