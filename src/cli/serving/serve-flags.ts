/** The flags of `troupe serve`, and which of them fit together. */
import { isLoopback } from '../../text/host-reach.js';
import type { OfferMode } from '../../search/offer.js';
import type { Flags, LogFormat } from '../arguments/flags.js';
import type { FleetFlags } from '../fleet-of-flags.js';
import type { ListenAddress } from '../arguments/listen-address.js';
import { UsageError } from '../exit.js';

export interface ServeFlags extends Flags, FleetFlags {
  /** The port, or `true` for any free port. */
  readonly http?: number | true;
  readonly host?: string;
  /** False: no token is needed. */
  readonly token?: string | false;
  readonly oauthIssuer?: readonly string[];
  readonly publicUrl?: string;
  readonly bare?: boolean;
  readonly failClosed?: boolean;
  readonly adminTools?: boolean;
  readonly offer: OfferMode;
  readonly offerTokens?: number;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly maxSessions?: number;
  /** Servers without which the gateway is not ready. */
  readonly require?: readonly string[];
  /** Where Prometheus reads metrics. */
  readonly metrics?: ListenAddress;
  /** Milliseconds. */
  readonly gracePeriod: number;
  /** Milliseconds. */
  readonly drainDelay?: number;
  readonly logFormat?: LogFormat;
}

const OF_HTTP = {
  host: '--host',
  token: '--token',
  oauthIssuer: '--oauth-issuer',
  publicUrl: '--public-url',
  allowOrigin: '--allow-origin',
  allowHost: '--allow-host',
  maxSessions: '--max-sessions',
  require: '--require',
  metrics: '--metrics',
  drainDelay: '--drain-delay',
  fleetAddress: '--fleet-address',
} as const satisfies { readonly [K in keyof ServeFlags]?: string };

/** Throws a `UsageError` that names the flag, or the variable that sets it. */
export function checkServeFlags(flags: ServeFlags, variables: ReadonlyMap<string, string>): void {
  if (flags.http === undefined) {
    const stray = Object.entries(OF_HTTP).find(([name]) => flags[name as keyof typeof OF_HTTP] !== undefined);
    if (stray === undefined) return;
    const [attribute, flag] = stray;
    const name = attribute === 'token' && flags.token === false ? '--no-token' : flag;
    throw new UsageError(`${variables.get(attribute) ?? name} requires --http`);
  }
  const { host = '127.0.0.1', oauthIssuer, token } = flags;
  if (isLoopback(host) || token !== false || oauthIssuer !== undefined) return;
  throw new UsageError(
    `--host ${host} admits other computers: omit --no-token or --host, or give --oauth-issuer URL`,
  );
}
