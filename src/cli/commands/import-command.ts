/**
 * `troupe import`: merges all sources into one `.mcp.json`. Variables stay as they are written, and entries of a
 * project keep their folder.
 */
import { resolve } from 'node:path';
import { visibleJson } from '../../json/write-json.js';
import { TrustedEntries } from '../../trust/trusted-entries.js';
import { createFileTrustStore } from '../../trust/trust-store.js';
import { loadConfig } from '../../servers/load-config.js';
import { MASK } from '../../config/entry/mask.js';
import { shownConfig } from '../../secrets/secrets.js';
import { ConfigError } from '../../errors.js';
import { readConfiguration, sourcesOf } from '../configured-servers.js';
import { countOf } from '../output/duration.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { keepFolder, type KeptFolder, toConfigFile } from '../import-file.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { noteWarnings } from '../output/server-notes.js';
import { FORCE_REPLACES, whyNotWritten, writeWholeFile } from '../output/write-whole-file.js';

export interface ImportFlags extends Flags {
  readonly output: string;
  /** Replace an existing file. */
  readonly force?: boolean;
}

/**
 * `EXIT.failed` if an entry, or a file that was found, cannot be used and was therefore left out. Throws a `UsageError`
 * if the extension of the file promises another format than JSON.
 */
export async function importServers(flags: ImportFlags, terminal: Terminal): Promise<ExitCode> {
  requireJson(flags);
  const { names, warnings, discovery } = await readConfiguration(flags);
  noteWarnings(warnings, names, terminal);
  const isTrusted = await new TrustedEntries(createFileTrustStore()).snapshot();
  const {
    servers: found,
    refused,
    sources,
  } = await loadConfig({
    ...sourcesOf(flags),
    isTrusted,
    cwd: process.cwd(),
  });
  const file = resolve(flags.output);
  const kept = found.map((spec) => keepFolder(spec, file));
  const servers = kept.map(({ spec }) => spec);
  const text = `${visibleJson(toConfigFile(servers), 2)}\n`;
  await write(file, text, flags);
  for (const { failure } of refused) terminal.note(`left out: ${oneLine(failure.message)}`);
  noteFolders(kept, flags, terminal);
  const untrusted = discovery.servers.filter(({ trusted }) => !trusted);
  if (untrusted.length > 0) {
    terminal.note(
      `${flags.output} holds entries of project files that are not trusted; if you give it with --config, they start without asking: ${listed(untrusted.map(({ server }) => server))}`,
    );
  }
  const literal = servers.filter(({ config }) => JSON.stringify(shownConfig(config)).includes(MASK));
  if (literal.length > 0) {
    terminal.note(
      `${flags.output} holds values as written, which may be secrets, of: ${listed(literal.map(({ name }) => name))}`,
    );
  }
  if (flags.json) terminal.printJson('import', { file, servers: servers.map(({ name }) => name) });
  else terminal.print(`${countOf(servers.length, 'server')} written to ${flags.output}`);
  return refused.length === 0 && sources.every(({ ok }) => ok) ? EXIT.fine : EXIT.failed;
}

/** A YAML name is fine, because JSON is YAML as well. */
function requireJson({ output }: ImportFlags): void {
  if (/\.toml$/i.test(output)) throw new UsageError(`${output}: the output is JSON, not TOML`);
}

function noteFolders(kept: readonly KeptFolder[], { output }: ImportFlags, terminal: Terminal): void {
  const written = kept.flatMap(({ spec, isWritten }) => (isWritten ? [spec.name] : []));
  const unclear = kept.flatMap(({ spec, unclear: fields }) =>
    fields.length === 0 ? [] : [`${spec.name} (${fields.join(', ')})`],
  );
  if (written.length > 0) {
    terminal.note(
      `${output} names the folder in which these servers start, so that they work wherever the file is used: ${listed(written)}`,
    );
  }
  if (unclear.length > 0) {
    terminal.note(
      `a variable decides whether a path is absolute; if not, it starts from another folder in ${output}: ${listed(unclear)}`,
    );
  }
}

function listed(names: readonly string[]): string {
  return names.map(oneLine).join(', ');
}

/** Throws a `ConfigError` if the file exists already or cannot be written. */
async function write(file: string, text: string, { output, force = false }: ImportFlags): Promise<void> {
  try {
    await writeWholeFile(file, text, { overwrite: force });
  } catch (error) {
    throw new ConfigError(`'${output}' ${whyNotWritten(error, FORCE_REPLACES)}`, { cause: error });
  }
}
