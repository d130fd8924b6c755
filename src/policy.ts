/** The numbers one server lives by: defaults, then the host's, then the entry's own, then the environment's limit. */
import { DEFAULT_POLICY, type BackoffOptions, type ConnectionPolicy } from '../machines/policy/policy.js';
import type { PolicyOverrides, ServerConfig } from './options.js';

/** Overrides launch, handshake and list limits of every server; milliseconds, 0 = no limit. */
export const TIMEOUT_VARIABLE = 'TROUPE_TIMEOUT_MS';

export function policyOf(
  config: ServerConfig,
  overrides: PolicyOverrides = {},
  env: Readonly<Record<string, string | undefined>> = {},
): ConnectionPolicy {
  const general = override(DEFAULT_POLICY, overrides);
  const own = override(withTimeout(general, config.timeout), config.policy ?? {});
  const limited = withTimeout(own, timeoutFrom(env[TIMEOUT_VARIABLE]));
  return config.idleStopMs === undefined ? limited : { ...limited, idleStopMs: config.idleStopMs };
}

function withTimeout(policy: ConnectionPolicy, ms: number | undefined): ConnectionPolicy {
  if (ms === undefined) return policy;
  return { ...policy, launchTimeoutMs: ms, handshakeTimeoutMs: ms, listTimeoutMs: ms };
}

function timeoutFrom(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  return Number(text);
}

function override(base: ConnectionPolicy, overrides: PolicyOverrides): ConnectionPolicy {
  const { backoff, intensity, exhausted, ping, listChanged, stop, ...numbers } = overrides;
  return {
    ...base,
    ...numbers,
    backoff: backoff === undefined ? base.backoff : toBackoff(backoff),
    intensity: { ...base.intensity, ...intensity },
    exhausted: { ...base.exhausted, ...exhausted },
    ping: { ...base.ping, ...ping },
    listChanged: { ...base.listChanged, ...listChanged },
    stop: { ...base.stop, ...stop },
  };
}

function toBackoff(backoff: BackoffOptions | readonly number[]): BackoffOptions {
  return 'kind' in backoff ? backoff : { kind: 'fixed', delaysMs: backoff };
}
