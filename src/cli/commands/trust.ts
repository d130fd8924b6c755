/** `troupe trust`: approves a server of the project's files, takes that back, or shows what is approved. Starts nothing. */
import { dirname } from 'node:path';
import type { Approval } from '../../config/approval-store.js';
import { createFileApprovalStore } from '../../config/file-approval-store.js';
import type { Discovery } from '../../discover.js';
import { ConfigError } from '../../errors.js';
import type { TrustRequest } from '../../options.js';
import { asking, canAsk } from '../ask.js';
import { readConfiguration } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { oneLine } from '../safe-text.js';
import type { Terminal } from '../terminal.js';
import { noSuchServer } from '../tool-target.js';
import { renderQuestion } from '../trust-question.js';
import { UsageError } from '../usage-error.js';

export interface TrustFlags extends Flags {
  /** Approve without a question. */
  readonly yes?: boolean;
  readonly revoke?: boolean;
  readonly list?: boolean;
}

export interface TrustTarget {
  readonly server: string | undefined;
  readonly stdin: NodeJS.ReadableStream;
}

type TrustResult = 'approved' | 'declined' | 'not-needed' | 'revoked' | 'none';

const TOLD: Readonly<Record<TrustResult, string>> = {
  approved: 'approved, until its entry changes',
  declined: 'not approved',
  'not-needed': 'needs no approval, or has it already',
  revoked: 'no longer approved',
  none: 'was not approved',
};

/** `EXIT.failed` where the person says no. */
export async function trust(flags: TrustFlags, terminal: Terminal, target: TrustTarget): Promise<ExitCode> {
  const { server } = target;
  if (flags.list === true) return list(flags, terminal, server);
  if (server === undefined) throw new UsageError('name the server to approve; --list shows what is approved');
  const result =
    flags.revoke === true ? await revoke(server) : await approve(server, flags, terminal, target);
  if (flags.json) terminal.print(JSON.stringify({ server, result }));
  else terminal.print(`${oneLine(server)}: ${TOLD[result]}`);
  return result === 'declined' ? EXIT.failed : EXIT.fine;
}

async function approve(
  server: string,
  flags: TrustFlags,
  terminal: Terminal,
  { stdin }: TrustTarget,
): Promise<TrustResult> {
  const { discovery, names } = await readConfiguration(flags);
  const request = requestOf(server, discovery);
  if (request === undefined) {
    if (discovery.refused.includes(server)) throw new ConfigError(whyRefused(server, discovery), { server });
    if (!names.includes(server)) throw new UsageError(noSuchServer(server, names));
    return 'not-needed';
  }
  terminal.note(renderQuestion(request));
  if (flags.yes !== true) {
    if (!canAsk(terminal, stdin)) {
      throw new UsageError('nobody can be asked without a terminal; --yes approves what is shown above');
    }
    if (!(await asking(terminal, stdin, ({ confirm }) => confirm('Approve it?')))) return 'declined';
  }
  await createFileApprovalStore().approve(request);
  return 'approved';
}

/** What is held back would be used before what is used now. */
function requestOf(server: string, { heldBack, servers }: Discovery): TrustRequest | undefined {
  const found = [...heldBack, ...servers].find(({ name, trustRequest }) => name === server && trustRequest);
  return found?.trustRequest ?? undefined;
}

function whyRefused(server: string, { problems }: Discovery): string {
  const reasons = problems.filter((problem) => problem.server === server).map(({ message }) => message);
  return `the entry of '${server}' cannot be used: ${reasons.join('; ')}`;
}

/** Every wording that was approved for this project, whether or not a file still has it. */
async function revoke(server: string): Promise<TrustResult> {
  const store = createFileApprovalStore();
  const folders = withParents(process.cwd());
  const approvals = (await store.list()).filter(
    (approval) => approval.server === server && folders.includes(approval.folder),
  );
  for (const { hash } of approvals) await store.revoke(hash);
  return approvals.length > 0 ? 'revoked' : 'none';
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

async function list(flags: Flags, terminal: Terminal, server: string | undefined): Promise<ExitCode> {
  const all = await createFileApprovalStore().list();
  const approvals = all
    .filter((approval) => server === undefined || approval.server === server)
    .toSorted(byPlace);
  if (flags.json) terminal.print(JSON.stringify({ approvals }, null, 2));
  else if (approvals.length === 0) terminal.note('nothing is approved');
  else {
    const lines = approvals.map(
      ({ server: name, source, folder }) => `${oneLine(name)}  ${oneLine(source)} in ${oneLine(folder)}`,
    );
    terminal.print([...new Set(lines)].join('\n'));
  }
  return EXIT.fine;
}

function byPlace(a: Approval, b: Approval): number {
  return a.folder.localeCompare(b.folder) || a.server.localeCompare(b.server);
}
