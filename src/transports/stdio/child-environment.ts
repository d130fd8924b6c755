/**
 * Decides which environment a server gets. Pure: the host's environment is an argument, and nothing is read or spawned.
 *
 * The list is short on purpose: a host's variables hold its secrets. It has the variables for the user and their folders,
 * language and time zone, the network, and trusted certificates. The proxy variables may contain credentials; without them
 * a server behind a proxy cannot start at all.
 */

import { THIS_PLATFORM, type Platform } from '../../platform/platform.js';

export type HostEnvironment = Readonly<Record<string, string | undefined>>;

/** The `troupe serve` gateways above this process, each named by what it serves. */
export const SERVE_CHAIN_VARIABLE = 'TROUPE_SERVE_CHAIN';

const EVERYWHERE = [
  'LANG',
  'LANGUAGE',
  'TZ',
  'TEMP',
  'TMP',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  SERVE_CHAIN_VARIABLE,
];

const POSIX = [
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'USER',
  'TMPDIR',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'XDG_STATE_HOME',
];

/** `PATHEXT` and `COMSPEC` are needed to find and run a `.cmd` shim such as `npx`. */
const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

const ON_POSIX: ReadonlySet<string> = new Set([...EVERYWHERE, ...POSIX]);
const ON_WINDOWS: ReadonlySet<string> = new Set([...EVERYWHERE, ...WINDOWS]);
const NOTHING: readonly string[] = [];

/**
 * The complete environment of a child process.
 *
 * @param host The host's environment. A value that starts with `()` is an exported shell function and is never
 *   passed on.
 * @param entryEnv The entry's own variables; they win.
 * @param inheritEnv `true` passes on all variables of the host, a list these names besides the allow-list.
 *   Default: the allow-list only (`LC_*` included).
 * @param platform Default: this system. Windows compares names without regard to case.
 */
export function childEnvironment(
  host: HostEnvironment,
  entryEnv: Readonly<Record<string, string>> = {},
  inheritEnv: boolean | readonly string[] = false,
  { ignoresCase }: Pick<Platform, 'ignoresCase'> = THIS_PLATFORM,
): Record<string, string> {
  const fold = (name: string): string => (ignoresCase ? name.toUpperCase() : name);
  const allowed = ignoresCase ? ON_WINDOWS : ON_POSIX;
  const extra = new Set(Array.isArray(inheritEnv) ? (inheritEnv as readonly string[]).map(fold) : NOTHING);
  const overridden = new Set(Object.keys(entryEnv).map(fold));

  const env: Record<string, string> = {};
  for (const name of Object.keys(host)) {
    const key = fold(name);
    const isPassedOn = inheritEnv === true || allowed.has(key) || extra.has(key) || key.startsWith('LC_');
    // Reading a variable of the host is a call of the system.
    const value = isPassedOn && !overridden.has(key) ? host[name] : undefined;
    if (value !== undefined && !value.startsWith('()')) env[name] = value;
  }
  return Object.assign(env, entryEnv);
}
