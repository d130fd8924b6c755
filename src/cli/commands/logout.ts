/** `troupe logout`: forgets the sign-in to one server. Starts nothing; it need not even be reachable. */
import { Approvals } from '../../approvals.js';
import { createFileTokenStore } from '../../auth/file-token-store.js';
import { signOut, type SignOutResult } from '../../auth/sign-out.js';
import { ownerOf } from '../../auth/token-store.js';
import { expandConfig } from '../../config/expand.js';
import { createFileApprovalStore } from '../../config/file-approval-store.js';
import { loadConfig } from '../../config/load.js';
import { ConfigError } from '../../errors.js';
import { systemClock } from '../../ports.js';
import { homeFolder } from '../../user-folder.js';
import { readConfiguration, sourcesOf } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { oneLine } from '../safe-text.js';
import type { Terminal } from '../terminal.js';
import { noSuchServer } from '../tool-target.js';
import { UsageError } from '../usage-error.js';

const TELLING_MS = 10_000;

const TOLD: Readonly<Record<SignOutResult, string>> = {
  none: 'nobody was signed in',
  forgotten: 'signed out here; the authorization server was not told',
  revoked: 'signed out',
};

export async function logout(flags: Flags, terminal: Terminal, server: string): Promise<ExitCode> {
  const { names } = await readConfiguration(flags);
  if (!names.includes(server)) throw new UsageError(noSuchServer(server, names));
  const url = await addressOf(server, flags);
  if (url === undefined) throw new UsageError(`'${server}' is no remote server: nobody signs in to it`);
  const signal = AbortSignal.any([terminal.gone, AbortSignal.timeout(TELLING_MS)]);
  const result = await signOut(ownerOf(url, undefined), createFileTokenStore(), {
    clock: systemClock,
    signal,
  });
  if (flags.json) terminal.print(JSON.stringify({ server, result }));
  else terminal.print(`${oneLine(server)}: ${TOLD[result]}`);
  return EXIT.fine;
}

/** Undefined for a server that is not reached over HTTP. */
async function addressOf(server: string, flags: Flags): Promise<string | undefined> {
  const isApproved = await new Approvals(createFileApprovalStore()).snapshot();
  const loaded = await loadConfig({ ...sourcesOf(flags), isApproved, cwd: process.cwd() });
  const spec = loaded.servers.find(({ name }) => name === server);
  if (spec === undefined) throw new ConfigError(`The entry of '${server}' cannot be used.`, { server });
  if (!('url' in spec.config)) return undefined;
  const { url, env = {} } = spec.config;
  const workspaceFolder = spec.scope === 'project' ? spec.baseDir : process.cwd();
  const context = { env: process.env, workspaceFolder, home: homeFolder() };
  const expansion = expandConfig({ ...spec, config: { url, env } }, context);
  if ('failure' in expansion) {
    const { message, hint } = expansion.failure;
    throw new ConfigError(hint === undefined ? message : `${message}. ${hint}`, { server });
  }
  return 'url' in expansion.config ? expansion.config.url : undefined;
}
