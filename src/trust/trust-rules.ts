/**
 * Which entries a person must trust before anything of them is spawned or expanded, and what that person is shown.
 *
 * The folder `trust` decides that question, asks it, and stores the answers.
 *
 * R1. The rules read the unexpanded entry only: nothing of an untrusted entry is looked up.
 * R2. Trust counts for one server name, one folder and one wording of the entry. The same wording in another
 *     folder runs other files, so it needs its own trust; the folder is its path without links. Values that the file proposes for inputs of the entry belong to
 *     the wording, since they are used if no person is asked.
 * R3. Everything that decides what runs is shown, including the values of variables such as `NODE_OPTIONS`; any other value
 *     that may be secret is shown by its name. Program, folder and host are shown in full, even if a variable supplies them.
 */
import type { TrustPolicy, TrustRequest } from './trust-request.js';
import { askedAddress, privateNetworkOf } from './asked-address.js';
import { decidingNames, type DecidingNames, decidesWhatRuns } from './deciding-names.js';
import { hashOf } from '../json/json-hash.js';
import { inputsWanted, references, variablesWanted } from '../config/entry/expand.js';
import { declaredInputs } from '../config/entry/inputs.js';
import { MASK } from '../config/entry/mask.js';
import { parseTemplate, type Part } from '../config/entry/template.js';
import { rewriteReferences } from '../config/entry/rewrite-references.js';
import type {
  EntryOAuth,
  HttpServerConfig,
  ServerConfig,
  StdioServerConfig,
} from '../config/entry/server-config.js';
import { isSecret } from '../secrets/is-secret.js';
import type { ServerSpec } from '../config/entry/server-spec.js';

/**
 * Every entry of a project's file needs trust, since people other than the user may have written it: one with an address
 * puts its tools and their descriptions before the model. A policy can decide for the person.
 */
export function needsTrust({ scope, config }: ServerSpec, policy?: TrustPolicy): boolean {
  if (scope !== 'project' || policy === 'all' || 'server' in config) return false;
  if (policy !== 'remote-only' && policy !== 'programs-only') return true;
  if (runsProgram(config) || usesThisMachine(config)) return true;
  return (
    policy === 'programs-only' && (variablesWanted(config).length > 0 || inputsWanted(config).length > 0)
  );
}

/**
 * Whether a policy alone trusts an entry of a project's file, so that it takes its name from other sources. A function is
 * called later, before the entry is started.
 */
export function isTrustedBy(policy: TrustPolicy | undefined, spec: ServerSpec): boolean {
  const { config } = spec;
  if (policy === 'all') return true;
  return policy === 'remote-only' && !runsProgram(config) && !usesThisMachine(config);
}

/** Whether only the trust of a person lets the entry use the sign-ins of the user: no policy but `all` gives that. */
export function signsInIfTrusted({ scope, config }: ServerSpec, policy?: TrustPolicy): boolean {
  return scope === 'project' && policy !== 'all' && 'url' in config;
}

/** Whether an entry runs a program: its server, or the command for its headers. */
function runsProgram(config: ServerSpec['config']): boolean {
  return 'command' in config || ('url' in config && config.headersHelper !== undefined);
}

/** Whether an entry reaches programs of this computer, or decides who can read the messages to a server. */
function usesThisMachine(config: ServerSpec['config']): boolean {
  if (!('url' in config)) return false;
  const { proxy, ca, cert, key } = config;
  const hasOwnRoute = [proxy || undefined, ca, cert, key].some((field) => field !== undefined);
  return hasOwnRoute || !OF_NETWORK.test(askedAddress(config).text);
}

/** An address on the network, or one that a variable of the user supplies. */
const OF_NETWORK = /^\s*(?:https?:|\$\{[^}:]+(?::-https?:[^}]*)?\})/i;

/** The question. It has the names of variables, never their values. Credentials and the query of an address are masked. */
export function toTrustRequest(spec: ServerSpec): TrustRequest {
  const { name, source, baseDir, config, contents } = spec;
  const inputs = declaredInputs(spec);
  const asked = idsOf(config);
  const defaults = inputs.flatMap(({ id, default: value }) =>
    value === undefined ? [] : [[id, value] as const],
  );
  const deciding = decidingNames(config, new Map(defaults));
  const addressing = addressingIds(config);
  const isShown = ({ id, password }: (typeof inputs)[number]): boolean =>
    !password || deciding.inputs.has(id) || addressing.has(id);
  const proposals = inputs.flatMap((input) =>
    input.default === undefined ? [] : [[input.id, isShown(input) ? input.default : MASK]],
  );
  return {
    server: name,
    source,
    folder: baseDir,
    ...describeTarget(config, deciding),
    variables: variablesWanted(config),
    env: shownEnv(config, deciding),
    ...(asked.length > 0 && { asks: asked }),
    ...(proposals.length > 0 && { inputs: Object.fromEntries(proposals) as Record<string, string> }),
    ...(contents !== undefined && { contents }),
    hash: hashOf({
      name,
      baseDir,
      entry: spec.ownHash ?? spec.hash,
      ...(inputs.length > 0 && { inputs }),
      ...(contents !== undefined && { contents }),
    }),
  };
}

function idsOf(config: ServerSpec['config']): readonly string[] {
  return inputsWanted(config).map((name) => name.replace(/^input:/, ''));
}

/** Ids of the answers that decide which server, proxy or sign-in is reached. */
function addressingIds(config: ServerSpec['config']): ReadonlySet<string> {
  if (!('url' in config)) return new Set();
  const { url, env, proxy, oauth } = config;
  const addresses = [url, proxy || [], oauth ? addressesOf(oauth) : []].flat();
  const deciding = addresses.flatMap((address) => askedAddress({ url: address, env }).deciding);
  return new Set(deciding.map(({ name }) => name.replace(/^input:/, '')));
}

function describeTarget(
  config: ServerSpec['config'],
  deciding: DecidingNames,
): Pick<
  TrustRequest,
  | 'transport'
  | 'command'
  | 'args'
  | 'cwd'
  | 'envFile'
  | 'keepDaemons'
  | 'url'
  | 'network'
  | 'signIn'
  | 'callbackPort'
  | 'headers'
  | 'headersHelper'
  | 'forwardHeaders'
  | 'proxy'
  | 'certificates'
> {
  if ('command' in config) {
    const { command, args, cwd, envFile, keepDaemons } = config;
    return {
      transport: 'stdio',
      command,
      ...(args !== undefined && { args: withOwnTexts(config, deciding).args ?? args }),
      ...(cwd !== undefined && { cwd }),
      ...(envFile !== undefined && { envFile }),
      ...(keepDaemons !== undefined && { keepDaemons }),
    };
  }
  if ('url' in config) {
    const { type = 'http', headers, headersHelper, forwardHeaders, proxy, oauth, env } = config;
    const { ca, cert, key } = withOwnFiles(config);
    const shown = (address: string): string => askedAddress({ url: address, env }).text;
    const url = askedAddress(config).text;
    const network = privateNetworkOf(url);
    const signIn = oauth ? addressesOf(oauth) : [];
    const callbackPort = oauth ? oauth.callbackPort : undefined;
    return {
      transport: type,
      url,
      ...(network !== undefined && { network }),
      ...(signIn.length > 0 && { signIn: signIn.map(shown) }),
      ...(callbackPort !== undefined && { callbackPort }),
      ...(headers !== undefined && { headers: namesIn(headers) }),
      ...(forwardHeaders !== undefined && { forwardHeaders }),
      ...(typeof proxy === 'string' && { proxy: shown(proxy) }),
      ...([ca, cert, key].some((file) => file !== undefined) && {
        certificates: [ca ?? [], cert ?? [], key ?? []].flat(),
      }),
      ...(headersHelper !== undefined && { headersHelper }),
    };
  }
  throw new TypeError('A server of this process needs no trust.');
}

/** Where the user's browser and their tokens would be sent. */
const SIGN_IN_ADDRESSES = ['metadataUrl', 'authorizationUrl', 'tokenUrl', 'redirectUrl'] as const;

function addressesOf(oauth: EntryOAuth): readonly string[] {
  return SIGN_IN_ADDRESSES.flatMap((field) => oauth[field] ?? []);
}

/** The files of certificates with variables from the entry's own `env` replaced. */
function withOwnFiles(config: HttpServerConfig): Pick<HttpServerConfig, 'ca' | 'cert' | 'key'> {
  const { env = {} } = config;
  const shown = rewriteReferences(config, ({ origin, name }) =>
    origin === 'host' && Object.hasOwn(env, name) ? { template: env[name] ?? '' } : undefined,
  );
  return shown as HttpServerConfig;
}

/** The command line with variables from the entry's own `env` replaced, unless their values may be secrets. */
function withOwnTexts(config: StdioServerConfig, deciding: DecidingNames): StdioServerConfig {
  const { command, args = [], env = {} } = config;
  const shown = rewriteReferences({ command, args }, ({ origin, name }) => {
    const own = origin === 'host' && Object.hasOwn(env, name) ? env[name] : undefined;
    const isHidden = !deciding.variables.has(name) && isSecret([name], own ?? '');
    return own === undefined || isHidden ? undefined : { template: own };
  });
  return shown as StdioServerConfig;
}

/** A value that only goes to a remote server is not shown, as the values of headers are not. */
function shownEnv(config: ServerConfig, deciding: DecidingNames): Readonly<Record<string, string | null>> {
  const { env = {} } = 'server' in config ? {} : config;
  const sent = new Set('url' in config ? references(config).map(({ name }) => name) : []);
  const shown = Object.entries(env).map(([name, text]) => {
    const literal = literalOf(parseTemplate(text, 'plain'));
    const mayBeSecret = literal !== '' && (sent.has(name) || isSecret([name], literal));
    const isHidden = mayBeSecret && !decidesWhatRuns(name) && !deciding.variables.has(name);
    return [name, isHidden ? null : text] as const;
  });
  return Object.fromEntries(shown.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The text without its references, but with their defaults. */
function literalOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : literalOf(part.fallback ?? []))).join('');
}

function namesIn(record: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.keys(record).toSorted();
}
