/**
 * `troupe trust`: trusts a server of the project's files, revokes that trust, or lists the trusted entries. Starts
 * nothing.
 */
import { dirname } from 'node:path';
import type { TrustedEntry } from '../../trust/trust-store.js';
import { findHere } from '../../trust/found-here.js';
import { createFileTrustStore } from '../../trust/file-trust-store.js';
import type { Discovery } from '../../servers/discover.js';
import { ConfigError } from '../../errors.js';
import type { TrustRequest } from '../../trust/trust-request.js';
import { asking, canAsk } from '../prompts/ask.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit-codes.js';
import type { Flags } from '../arguments/flags.js';
import { nameOf, oneLine } from '../output/safe-text.js';
import type { Terminal } from '../output/terminal.js';
import { noSuchServer } from '../arguments/tool-target.js';
import { renderQuestion } from '../output/trust-question.js';

export interface TrustFlags extends Flags {
  /** Trust without a question. */
  readonly yes?: boolean;
  readonly revoke?: boolean;
  readonly list?: boolean;
}

export interface TrustTarget {
  readonly server: string | undefined;
  readonly stdin: NodeJS.ReadableStream;
}

type TrustResult = 'trusted' | 'declined' | 'not-needed' | 'revoked' | 'none';

const TOLD: Readonly<Record<TrustResult, string>> = {
  trusted: 'trusted, until its entry changes',
  declined: 'not trusted',
  'not-needed': 'needs no trust, or has it already',
  revoked: 'no longer trusted',
  none: 'was not trusted',
};

/** `EXIT.failed` if the person says no. */
export async function trust(flags: TrustFlags, terminal: Terminal, target: TrustTarget): Promise<ExitCode> {
  const { server } = target;
  if (flags.list === true) return list(flags, terminal, server);
  if (server === undefined) throw new UsageError('name the server to trust; --list shows what is trusted');
  const result = flags.revoke === true ? await revoke(server) : await ask(server, flags, terminal, target);
  if (flags.json) terminal.printJson({ server, result });
  else terminal.print(`${nameOf(server)}: ${TOLD[result]}`);
  return result === 'declined' ? EXIT.failed : EXIT.fine;
}

async function ask(
  server: string,
  flags: TrustFlags,
  terminal: Terminal,
  { stdin }: TrustTarget,
): Promise<TrustResult> {
  const { discovery, names } = await readConfiguration(flags, { byPlace: true });
  const request = requestOf(server, discovery);
  if (request === undefined) {
    if (discovery.refused.includes(server)) throw new ConfigError(whyRefused(server, discovery), { server });
    if (!names.includes(server)) throw new UsageError(noSuchServer(server, names));
    return 'not-needed';
  }
  terminal.note(renderQuestion(request, await findHere(request)));
  if (flags.yes !== true) {
    if (!canAsk(terminal, stdin)) {
      throw new UsageError('cannot ask without a terminal; use --yes to trust what is shown above');
    }
    if (!(await asking(terminal, stdin, ({ confirm }) => confirm('Trust it?')))) return 'declined';
  }
  await createFileTrustStore().trust(request);
  return 'trusted';
}

/** An entry that is held back would take precedence over the one in use. */
function requestOf(server: string, { heldBack, servers }: Discovery): TrustRequest | undefined {
  const found = [...heldBack, ...servers].find((entry) => entry.server === server && entry.trustRequest);
  return found?.trustRequest ?? undefined;
}

function whyRefused(server: string, { problems }: Discovery): string {
  const reasons = problems.filter((problem) => problem.server === server).map(({ message }) => message);
  return `the entry of '${server}' cannot be used: ${reasons.join('; ')}`;
}

/** Revokes every version of the entry that was trusted for this project, whether or not a file still has it. */
async function revoke(server: string): Promise<TrustResult> {
  const store = createFileTrustStore();
  const folders = withParents(process.cwd());
  const entries = (await store.list()).filter(
    (entry) => entry.server === server && folders.includes(entry.folder),
  );
  for (const { hash } of entries) await store.revoke(hash);
  return entries.length > 0 ? 'revoked' : 'none';
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

async function list(flags: Flags, terminal: Terminal, server: string | undefined): Promise<ExitCode> {
  const all = await createFileTrustStore().list();
  const entries = all.filter((entry) => server === undefined || entry.server === server).toSorted(byPlace);
  if (flags.json) terminal.printJson({ trusted: entries }, 2);
  else if (entries.length === 0) terminal.note('nothing is trusted');
  else {
    const lines = entries.map(
      ({ server: name, source, folder }) => `${nameOf(name)}  ${oneLine(source)} in ${oneLine(folder)}`,
    );
    terminal.print([...new Set(lines)].join('\n'));
  }
  return EXIT.fine;
}

function byPlace(a: TrustedEntry, b: TrustedEntry): number {
  return a.folder.localeCompare(b.folder) || a.server.localeCompare(b.server);
}
