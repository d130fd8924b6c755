/** Makes a recorder for the charts of this package. Loaded only where something is recorded. */
import { connectionMachine } from '../../machines/connection.machine.js';
import { managerMachine, type ManagerInput } from '../../machines/manager.machine.js';
import { chartHash } from '../inspection/chart-hash.js';
import { chartModel } from '../inspection/chart-model.js';
import { PACKAGE } from '../package.js';
import { LOG_FORMAT, POLICY_VERSION, type LogHeader } from './entry.js';
import { Recorder, type RecorderParts } from './recorder.js';

export { createLogFile } from './file-store.js';

export interface Recorded extends Omit<RecorderParts, 'facts'> {
  readonly seed: number;
  /** What the manager was started with. */
  readonly input: ManagerInput;
}

export function makeRecorder({ seed, input, ...parts }: Recorded): Recorder {
  return new Recorder({
    ...parts,
    facts: {
      troupeLog: LOG_FORMAT,
      package: PACKAGE,
      policyVersion: POLICY_VERSION,
      machines: currentCharts(),
      seed,
      input: { ...input },
      options: {},
    },
  });
}

let current: LogHeader['machines'] | undefined;

/** The hashes of the charts as they are now. */
export function currentCharts(): LogHeader['machines'] {
  current ??= {
    connection: chartHash(chartModel(connectionMachine)),
    manager: chartHash(chartModel(managerMachine)),
  };
  return current;
}
