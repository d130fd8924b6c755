/**
 * Whether servers that were started with one environment may serve a caller with another: every variable that decides what
 * they are, or which configuration is found, must be the same. Pure.
 */
import { variablesWanted } from '../../config/entry/expand.js';
import type { ServerConfig } from '../../config/entry/server-config.js';
import { childEnvironment } from '../../transports/stdio/child-environment.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** They say where a program runs, not what it does. */
const OF_THE_SHELL: ReadonlySet<string> = new Set([
  '_',
  'COLUMNS',
  'LINES',
  'OLDPWD',
  'PWD',
  'SHLVL',
  'TERM',
  'TROUPE_WARM',
]);
/** The variables with which configurations are found, besides those that every server gets. */
const OF_DISCOVERY = /^(?:TROUPE_|CHOKIDAR_|CLAUDE_CONFIG_DIR$|CODEX_HOME$|NODE_OPTIONS$)/;

/** The first variable that differs; undefined if none does. */
export function differingVariable(
  caller: Environment,
  own: Environment,
  configs: readonly ServerConfig[],
): string | undefined {
  const wanted = new Set(configs.flatMap((config) => variablesWanted(config)));
  const passedOn = { ...childEnvironment(caller), ...childEnvironment(own) };
  const decides = (name: string): boolean =>
    wanted.has('*') || wanted.has(name) || name in passedOn || OF_DISCOVERY.test(name);
  return Object.keys({ ...own, ...caller }).find(
    (name) => !OF_THE_SHELL.has(name) && caller[name] !== own[name] && decides(name),
  );
}
