/**
 * The effective settings of one server: the defaults, then the host's options, then the entry, then the limit of the
 * environment. Pure.
 */
import type { RetryCalls } from '../../../machines/policy/call-safety.js';
import {
  DEFAULT_POLICY,
  REMOTE_POLICY,
  type BackoffOptions,
  type ConnectionPolicy,
} from '../../../machines/policy/policy.js';
import { FIELD_ROWS, type ENTRY_FIELDS } from './entry-fields.js';
import type { MessageLimits } from '../../json/parse-json.js';
import type { PolicyOverrides, ServerSettings, StdioServerConfig } from './server-config.js';

/** Overrides launch, handshake and list limits of every server; milliseconds, 0 = no limit. */
export const TIMEOUT_VARIABLE = 'TROUPE_TIMEOUT_MS';

/** The host's settings for all its servers. */
/** A cold download by npx took more than 30 s in one of six trials. */
const DOWNLOADING = { handshakeTimeoutMs: 180_000 } as const;

export interface HostSettings {
  readonly policy?: PolicyOverrides;
  readonly retryCalls?: RetryCalls;
  readonly limits?: MessageLimits;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The settings that have a default in the table. */
type Defaulted = {
  [K in keyof ServerSettings]-?: 'default' extends keyof (typeof ENTRY_FIELDS)[K] ? K : never;
}[keyof ServerSettings];

type OwnSettings = ServerSettings & Required<Pick<ServerSettings, Defaulted>>;

/** Settings that become part of others. */
const COMBINED = ['startTimeoutMs', 'idleStopMs', 'policy', 'limits', 'retryCalls'] as const;

type UnchangedSettings = Omit<OwnSettings, (typeof COMBINED)[number]>;

const UNCHANGED = FIELD_ROWS.filter(
  ([name, { transports }]) =>
    transports.includes('in-process') && !(COMBINED as readonly string[]).includes(name),
);

const NO_LIMITS: MessageLimits = {};

export interface EffectiveSettings extends UnchangedSettings {
  readonly retryCalls: RetryCalls;
  readonly limits: MessageLimits;
  /** Includes the entry's `startTimeoutMs` and `idleStopMs`. */
  readonly policy: ConnectionPolicy;
}

export function effectiveSettings(
  config: ServerSettings & CommandLine,
  host: HostSettings = {},
): EffectiveSettings {
  const { startTimeoutMs, idleStopMs, policy, limits, retryCalls } = config;
  const general = override(defaultsFor(config), host.policy);
  const precise = override(withTimeout(general, startTimeoutMs), policy);
  const limited = withTimeout(precise, timeoutFrom(host.env?.[TIMEOUT_VARIABLE]));
  return {
    limits: limits === undefined ? (host.limits ?? NO_LIMITS) : { ...host.limits, ...limits },
    retryCalls: retryCalls ?? host.retryCalls ?? 'safe',
    policy: idleStopMs === undefined ? limited : { ...limited, idleStopMs },
    ...ownSettings(config),
  };
}

function defaultsFor(config: CommandLine): ConnectionPolicy {
  // Another host may run it.
  if ('url' in config || config.only === 'fleet') return { ...DEFAULT_POLICY, ...REMOTE_POLICY };
  return mayDownload(config) ? { ...DEFAULT_POLICY, ...DOWNLOADING } : DEFAULT_POLICY;
}

function ownSettings(config: ServerSettings): UnchangedSettings {
  const given: Readonly<Record<string, unknown>> = { ...config };
  const settings = UNCHANGED.flatMap(([name, field]) => {
    const value = given[name] ?? field.default;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(settings) as unknown as UnchangedSettings;
}

function withTimeout(policy: ConnectionPolicy, ms: number | undefined): ConnectionPolicy {
  if (ms === undefined) return policy;
  return { ...policy, launchTimeoutMs: ms, handshakeTimeoutMs: ms, listTimeoutMs: ms };
}

function timeoutFrom(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  return Number(text);
}

/** An overridden `maxAttempts` applies to every round, unless `maxAttemptsOnceReady` is overridden as well. */
function override(defaults: ConnectionPolicy, overrides: PolicyOverrides | undefined): ConnectionPolicy {
  if (overrides === undefined) return defaults;
  const { maxAttemptsOnceReady: _, ...others } = defaults;
  const base = overrides.maxAttempts === undefined ? defaults : others;
  const { backoff, intensity, signIns, exhausted, ping, listChanged, stop, ...numbers } = overrides;
  return {
    ...base,
    ...numbers,
    backoff: backoff === undefined ? base.backoff : toBackoff(backoff),
    intensity: { ...base.intensity, ...intensity },
    signIns: { ...base.signIns, ...signIns },
    exhausted: { ...base.exhausted, ...exhausted },
    ping: { ...base.ping, ...ping },
    listChanged: { ...base.listChanged, ...listChanged },
    stop: { ...base.stop, ...stop },
  };
}

function toBackoff(backoff: BackoffOptions | readonly number[]): BackoffOptions {
  return 'kind' in backoff ? backoff : { kind: 'fixed', delaysMs: backoff };
}

// Whether a command may download its program first, which takes longer than a start. Pure.

/** Runners by name, each with the subcommands that fetch a package; null if it always may. */
const RUNNERS: Readonly<Record<string, readonly string[] | null>> = {
  npx: null,
  pnpx: null,
  bunx: null,
  uvx: null,
  npm: ['exec', 'x'],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  bun: ['x'],
  uv: ['run', 'tool'],
  pipx: ['run'],
  docker: ['run'],
  podman: ['run'],
};
const SHELLS: ReadonlySet<string> = new Set(['cmd']);
const REMOTE_MODULE = /^(?:npm|jsr|https?):/;

export type CommandLine = Partial<Pick<StdioServerConfig, 'command' | 'args' | 'only'>>;

export function mayDownload({ command = '', args = [] }: CommandLine): boolean {
  const name = programName(command);
  const words = args.filter((arg) => !/^[-/]/.test(arg));
  if (SHELLS.has(name)) return mayDownload({ command: words[0] ?? '', args: words.slice(1) });
  if (name === 'deno') return words.some((word) => REMOTE_MODULE.test(word));
  const subcommands = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : [];
  return subcommands === null || subcommands?.includes(words[0] ?? '') === true;
}

/** `npx` of `C:\\node\\npx.cmd`. */
function programName(command: string): string {
  const file = command.split(/[/\\]/).at(-1) ?? '';
  return file.toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/, '');
}
