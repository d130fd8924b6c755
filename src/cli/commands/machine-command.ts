/** `troupe machine`: prints a chart of the runtime as text. */
import { visibleJson } from '../../json/write-json.js';
import { CHARTS } from '../../../machines/charts.js';
import { chartModel, toMermaid, toScxml, type ChartModel } from '../../charts/index.js';
import { EXIT, type ExitCode } from '../exit.js';
import type { ChartFormat, Flags, MachineName } from '../arguments/flags.js';
import type { Terminal } from '../output/terminal.js';

export interface MachineFlags extends Flags {
  /** Default: `json` with `--json`, else `mermaid`. */
  readonly format?: ChartFormat;
}

const FORMATS: Readonly<Record<ChartFormat, (model: ChartModel) => string>> = {
  mermaid: toMermaid,
  scxml: toScxml,
  json: (model) => visibleJson(model, 2),
};

export function machine(flags: MachineFlags, terminal: Terminal, name: MachineName): ExitCode {
  const write = FORMATS[flags.format ?? (flags.json ? 'json' : 'mermaid')];
  terminal.print(write(chartModel(CHARTS[name])).trimEnd());
  return EXIT.fine;
}
