/** `troupe logout`: forgets the sign-in to one server. Starts nothing; the server need not be reachable. */
import { TrustedEntries } from '../../trust/trusted-entries.js';
import { createFileTokenStore } from '../../auth/stores/file-token-store.js';
import { signOut, type SignOutResult } from '../../auth/sign-out.js';
import { ownerOf } from '../../auth/stores/token-store.js';
import { expandConfig } from '../../config/entry/expand.js';
import { createFileTrustStore } from '../../trust/trust-store.js';
import type { HttpServerConfig } from '../../config/entry/server-config.js';
import { loadConfig } from '../../servers/load-config.js';
import { ConfigError } from '../../errors.js';
import { systemClock } from '../../ports.js';
import { createNetworkSource } from '../../transports/http/network-options.js';
import { homeFolder } from '../../storage/folders.js';
import { readConfiguration, sourcesOf } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { serverCommand } from '../../lifecycle/server-command.js';
import { needsTrust } from '../../trust/trust-rules.js';
import type { Terminal } from '../output/terminal.js';
import { noSuchServer } from '../arguments/tool-target.js';
import { serverAndAccount } from '../output/server-notes.js';

const TELLING_MS = 10_000;

const TOLD: Readonly<Record<SignOutResult, string>> = {
  none: 'was not signed in',
  forgotten: 'signed out here; the authorization server was not notified',
  revoked: 'signed out',
};

export async function logout(flags: Flags, terminal: Terminal, server: string): Promise<ExitCode> {
  const { names } = await readConfiguration(flags);
  if (!names.includes(server)) throw new UsageError(noSuchServer(server, names));
  const config = await addressOf(server, flags);
  if (config === undefined) throw new UsageError(`'${server}' is not a remote server and has no sign-in`);
  const { url, oauth } = config;
  const signal = AbortSignal.any([terminal.gone, AbortSignal.timeout(TELLING_MS)]);
  const { clientId, account } = oauth || {};
  const result = await signOut(ownerOf(url, clientId, account), createFileTokenStore(), {
    clock: systemClock,
    network: () => createNetworkSource(undefined)(server, config),
    signal,
  });
  if (flags.json) terminal.printJson('logout', { server, ...(account !== undefined && { account }), result });
  else terminal.print(`${serverAndAccount(server, account)}: ${TOLD[result]}`);
  return EXIT.fine;
}

/** The entry without the fields that a sign-out does not need. Undefined for a server that is not reached over HTTP. */
async function addressOf(server: string, flags: Flags): Promise<HttpServerConfig | undefined> {
  const isTrusted = await new TrustedEntries(createFileTrustStore()).snapshot();
  const loaded = await loadConfig({ ...sourcesOf(flags), isTrusted, cwd: process.cwd() });
  const spec = loaded.servers.find(({ name }) => name === server);
  if (spec === undefined) throw new ConfigError(`The entry of '${server}' cannot be used.`, { server });
  if (!('url' in spec.config)) return undefined;
  // Signing out would send the token through the proxy of the entry and read its variables.
  if (needsTrust(spec) && !isTrusted(spec)) {
    throw new ConfigError(`'${server}' needs trust first: ${serverCommand('trust', server)}`, { server });
  }
  const { headers: _h, headersHelper: _p, ...config } = spec.config;
  const workspaceFolder = spec.scope === 'project' ? spec.baseDir : process.cwd();
  const context = { env: process.env, workspaceFolder, home: homeFolder() };
  const expansion = expandConfig({ ...spec, config }, context);
  if ('failure' in expansion) {
    const { message, hint } = expansion.failure;
    throw new ConfigError(hint === undefined ? message : `${message}. ${hint}`, { server });
  }
  return 'url' in expansion.config ? expansion.config : undefined;
}
