/** `troupe config`: shows which servers are configured, where, and which entries hide others. Starts nothing. */
import { CONFIG_SCHEMA } from '../../config/entry/published-schema.js';
import { renderConfig, toConfigJson } from '../output/config-report.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../arguments/flags.js';
import { noteWarnings } from '../output/server-notes.js';
import type { Terminal } from '../output/terminal.js';

export interface ConfigFlags extends Flags {
  /** Print the JSON Schema of a configuration file instead. */
  readonly schema?: boolean;
}

/** `EXIT.failed` if an entry, or a file that was found, cannot be used. */
export async function config(flags: ConfigFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.schema === true) {
    terminal.printJson(CONFIG_SCHEMA, 2);
    return EXIT.fine;
  }
  const { discovery, names, warnings } = await readConfiguration(flags);
  noteWarnings(warnings, names, terminal);
  if (flags.json) terminal.printJson(toConfigJson(discovery), 2);
  else terminal.print(renderConfig(discovery, terminal.colors));
  const isUsable = discovery.refused.length === 0 && discovery.sources.every(({ ok }) => ok);
  return isUsable ? EXIT.fine : EXIT.failed;
}
