/** `troupe machine`: prints a chart of the runtime as text. */
import { CHARTS } from '../../../machines/charts.js';
import { chartModel, toMermaid, toScxml, type ChartModel } from '../../charts/index.js';
import { EXIT, type ExitCode } from '../exit.js';
import type { ChartFormat, Flags, MachineName } from '../arguments/flags.js';
import type { Terminal } from '../output/terminal.js';

export interface MachineFlags extends Flags {
  /** Default: `json` with `--json`, else `mermaid`. */
  readonly format?: ChartFormat;
}

const WRITERS: Readonly<Record<Exclude<ChartFormat, 'json'>, (model: ChartModel) => string>> = {
  mermaid: toMermaid,
  scxml: toScxml,
};

export function machine(flags: MachineFlags, terminal: Terminal, name: MachineName): ExitCode {
  const format = flags.format ?? (flags.json ? 'json' : 'mermaid');
  const model = chartModel(CHARTS[name]);
  if (format === 'json') terminal.printJson('machine', model);
  else terminal.print(WRITERS[format](model).trimEnd());
  return EXIT.fine;
}
