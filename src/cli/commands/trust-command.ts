/**
 * `troupe trust`: trusts servers of the project's files, revokes that trust, or lists the trusted entries. Starts
 * nothing.
 */
import { dirname } from 'node:path';
import { type TrustedEntry, createFileTrustStore } from '../../trust/trust-store.js';
import { findHere } from '../../trust/found-here.js';
import type { Discovery } from '../../servers/discover.js';
import { ConfigError } from '../../errors.js';
import type { TrustRequest } from '../../trust/trust-request.js';
import { asking, canAsk } from '../prompts/ask.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { nameOf, oneLine, type Terminal } from '../output/terminal.js';
import { noSuchServer } from '../arguments/tool-target.js';
import { renderQuestion } from '../output/trust-question.js';
import type { TrustJson } from '../output/json-output.js';

export interface TrustFlags extends Flags {
  /** Trust without a question. */
  readonly yes?: boolean;
  /** Every server that waits for trust, or that is trusted if trust is revoked. */
  readonly all?: boolean;
  readonly revoke?: boolean;
  readonly list?: boolean;
}

export interface TrustTarget {
  readonly servers: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

interface Question {
  readonly server: string;
  /** Undefined if the server needs no trust. */
  readonly question: { readonly request: TrustRequest; readonly text: string } | undefined;
}

const TOLD: Readonly<Record<TrustJson['result'], string>> = {
  trusted: 'trusted, until its entry changes',
  declined: 'not trusted',
  'not-needed': 'needs no trust, or has it already',
  revoked: 'no longer trusted',
  none: 'was not trusted',
};

/** `EXIT.failed` if the person says no to one of the servers. */
export async function trust(flags: TrustFlags, terminal: Terminal, target: TrustTarget): Promise<ExitCode> {
  const { servers } = target;
  if (flags.all === true && servers.length > 0)
    throw new UsageError('name servers, or give --all, but not both');
  if (flags.list === true) return list(flags, terminal, servers);
  if (flags.all !== true && servers.length === 0)
    throw new UsageError('name the servers to trust, or give --all; --list shows what is trusted');
  const results = flags.revoke === true ? await revoke(servers) : await ask(flags, terminal, target);
  if (flags.json) terminal.printJson('trust', results);
  else if (results.length === 0) terminal.note('no server of this project is concerned');
  for (const { server, result } of flags.json ? [] : results)
    terminal.print(`${nameOf(server)}: ${TOLD[result]}`);
  return results.some(({ result }) => result === 'declined') ? EXIT.failed : EXIT.fine;
}

/** Checks all names before it asks about the first server. */
async function ask(
  flags: TrustFlags,
  terminal: Terminal,
  { servers, stdin }: TrustTarget,
): Promise<readonly TrustJson[]> {
  const { discovery, names } = await readConfiguration(flags, { byPlace: true });
  const concerned = flags.all === true ? waitingIn(discovery) : [...new Set(servers)];
  const requests = concerned.map((server) => ({ server, request: requestOf(server, discovery, names) }));
  const questions = await Promise.all(
    requests.map(async ({ server, request }) => ({
      server,
      question: request && { request, text: renderQuestion(request, await findHere(request)) },
    })),
  );
  if (flags.yes === true) return answersTo(questions, terminal, async () => true);
  if (!canAsk(terminal, stdin)) return answersTo(questions, terminal, refuseToAsk);
  return asking(terminal, stdin, ({ confirm }) => answersTo(questions, terminal, confirm));
}

async function answersTo(
  questions: readonly Question[],
  terminal: Terminal,
  confirm: (question: string) => Promise<boolean>,
): Promise<readonly TrustJson[]> {
  const results: TrustJson[] = [];
  for (const { server, question } of questions) {
    if (question === undefined) {
      results.push({ server, result: 'not-needed' });
      continue;
    }
    terminal.note(question.text);
    const isTrusted = await confirm('Trust it?');
    if (isTrusted) await createFileTrustStore().trust(question.request);
    results.push({ server, result: isTrusted ? 'trusted' : 'declined' });
  }
  return results;
}

function refuseToAsk(): never {
  throw new UsageError('cannot ask without a terminal; use --yes to trust what is shown above');
}

function waitingIn({ heldBack, servers }: Discovery): readonly string[] {
  const waiting = [...heldBack, ...servers].filter(({ trustRequest }) => trustRequest);
  return [...new Set(waiting.map(({ server }) => server))];
}

/** Undefined if the server needs no trust. Throws for a name that is not configured, and for a wrong entry. */
function requestOf(server: string, discovery: Discovery, names: readonly string[]): TrustRequest | undefined {
  const request = requestIn(discovery, server);
  if (request !== undefined) return request;
  if (discovery.refused.includes(server)) throw new ConfigError(whyRefused(server, discovery), { server });
  if (!names.includes(server)) throw new UsageError(noSuchServer(server, names));
  return undefined;
}

/** An entry that is held back would take precedence over the one in use. */
function requestIn({ heldBack, servers }: Discovery, server: string): TrustRequest | undefined {
  const found = [...heldBack, ...servers].find((entry) => entry.server === server && entry.trustRequest);
  return found?.trustRequest ?? undefined;
}

function whyRefused(server: string, { problems }: Discovery): string {
  const reasons = problems.filter((problem) => problem.server === server).map(({ message }) => message);
  return `the entry of '${server}' cannot be used: ${reasons.join('; ')}`;
}

/**
 * Revokes every version of the entries that were trusted for this project, whether or not a file still has them. Without
 * names, of all servers.
 */
async function revoke(servers: readonly string[]): Promise<readonly TrustJson[]> {
  const store = createFileTrustStore();
  const folders = withParents(process.cwd());
  const here = (await store.list()).filter(({ folder }) => folders.includes(folder));
  const concerned = servers.length === 0 ? here.map(({ server }) => server) : servers;
  const results: TrustJson[] = [];
  for (const server of new Set(concerned)) {
    const entries = here.filter((entry) => entry.server === server);
    for (const { hash } of entries) await store.revoke(hash);
    results.push({ server, result: entries.length > 0 ? 'revoked' : 'none' });
  }
  return results;
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

async function list(flags: Flags, terminal: Terminal, servers: readonly string[]): Promise<ExitCode> {
  const all = await createFileTrustStore().list();
  const entries = all
    .filter(({ server }) => servers.length === 0 || servers.includes(server))
    .toSorted(byPlace);
  if (flags.json) terminal.printJson('trust', { trusted: entries });
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
