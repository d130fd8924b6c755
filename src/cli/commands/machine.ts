/** `troupe machine`: one of the charts that run, as text. */
import { connectionMachine, managerMachine, reviewMachine } from '../../../machines/index.js';
import { chartModel, toMermaid, toScxml, type ChartModel } from '../../inspection/index.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { ChartFormat, Flags, MachineName } from '../flags.js';
import type { Terminal } from '../terminal.js';

export interface MachineFlags extends Flags {
  /** Default: `json` with `--json`, else `mermaid`. */
  readonly format?: ChartFormat;
}

const MACHINES = {
  connection: connectionMachine,
  manager: managerMachine,
  review: reviewMachine,
} as const satisfies Record<MachineName, unknown>;

const FORMATS: Readonly<Record<ChartFormat, (model: ChartModel) => string>> = {
  mermaid: toMermaid,
  scxml: toScxml,
  json: (model) => JSON.stringify(model, null, 2),
};

export function machine(flags: MachineFlags, terminal: Terminal, name: MachineName): ExitCode {
  const write = FORMATS[flags.format ?? (flags.json ? 'json' : 'mermaid')];
  terminal.print(write(chartModel(MACHINES[name])).trimEnd());
  return EXIT.fine;
}
