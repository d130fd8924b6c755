/**
 * `troupe import`: writes what all sources come to as one `.mcp.json`. Variables stay as they are written, and entries
 * of a project keep their folder.
 */
import { resolve } from 'node:path';
import { Approvals } from '../../approvals.js';
import { createFileApprovalStore } from '../../config/file-approval-store.js';
import { loadConfig } from '../../config/load.js';
import { MASK, maskConfig } from '../../config/mask.js';
import { ConfigError } from '../../errors.js';
import { readConfiguration, sourcesOf } from '../configuration.js';
import { countOf } from '../count-of.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { keepFolder, type KeptFolder } from '../keep-folder.js';
import { toConfigFile } from '../config-file.js';
import { oneLine } from '../safe-text.js';
import { noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';
import { writeWholeFile } from '../write-whole-file.js';

export interface ImportFlags extends Flags {
  readonly output: string;
  /** Replace a file that is there. */
  readonly force?: boolean;
}

/**
 * `EXIT.failed` where an entry, or a file that was found, cannot be used and was therefore left out. Throws a `UsageError`
 * where the file would be read as something else than is written.
 */
export async function importServers(flags: ImportFlags, terminal: Terminal): Promise<ExitCode> {
  requireJson(flags);
  const { names, warnings, discovery } = await readConfiguration(flags);
  noteWarnings(warnings, names, terminal);
  const isApproved = await new Approvals(createFileApprovalStore()).snapshot();
  const {
    servers: found,
    refused,
    sources,
  } = await loadConfig({
    ...sourcesOf(flags),
    isApproved,
    cwd: process.cwd(),
  });
  const file = resolve(flags.output);
  const kept = found.map((spec) => keepFolder(spec, file));
  const servers = kept.map(({ spec }) => spec);
  const text = `${JSON.stringify(toConfigFile(servers), null, 2)}\n`;
  await write(file, text, flags);
  for (const { failure } of refused) terminal.note(`left out: ${oneLine(failure.message)}`);
  noteFolders(kept, flags, terminal);
  const unapproved = discovery.servers.filter(({ trusted }) => !trusted);
  if (unapproved.length > 0) {
    terminal.note(
      `${flags.output} holds entries of project files that nobody has approved; given with --config, it starts them unasked: ${listed(unapproved)}`,
    );
  }
  const literal = servers.filter(({ config }) => JSON.stringify(maskConfig(config)).includes(MASK));
  if (literal.length > 0) {
    terminal.note(
      `${flags.output} holds values as they were written, perhaps secrets, of: ${listed(literal)}`,
    );
  }
  terminal.print(
    flags.json
      ? JSON.stringify({ file, servers: servers.map(({ name }) => name) }, null, 2)
      : `${countOf(servers.length, 'server')} written to ${flags.output}`,
  );
  return refused.length === 0 && sources.every(({ ok }) => ok) ? EXIT.fine : EXIT.failed;
}

/** JSON is YAML as well. */
function requireJson({ output }: ImportFlags): void {
  if (/\.toml$/i.test(output)) throw new UsageError(`${output}: what is written is JSON, and not TOML`);
}

function noteFolders(kept: readonly KeptFolder[], { output }: ImportFlags, terminal: Terminal): void {
  const those = (wanted: KeptFolder['folder']) =>
    kept.flatMap(({ spec, folder }) => (folder === wanted ? [spec] : []));
  const [written, unclear] = [those('written'), those('unclear')];
  if (written.length > 0) {
    terminal.note(
      `${output} names the folder of their project, so that they mean the same wherever it is used: ${listed(written)}`,
    );
  }
  if (unclear.length > 0) {
    terminal.note(
      `a variable decides on the working folder, which may be another from ${output}: ${listed(unclear)}`,
    );
  }
}

function listed(servers: readonly { readonly name: string }[]): string {
  return servers.map(({ name }) => oneLine(name)).join(', ');
}

/** Throws a `ConfigError` where the file is there already, or cannot be written. */
async function write(file: string, text: string, { output, force = false }: ImportFlags): Promise<void> {
  try {
    await writeWholeFile(file, text, { overwrite: force });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EEXIST' ? 'is there already; --force replaces it' : `cannot be written (${code ?? message})`;
    throw new ConfigError(`${output}: ${reason}`, { cause: error });
  }
}
