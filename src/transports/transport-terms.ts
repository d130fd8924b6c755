/** What every transport is given beside its entry. */
import type { StopPolicy } from '../../machines/policy/policy.js';
import type { ServerConfig } from '../options.js';
import type { Clock } from '../ports.js';
import type { Mask } from '../secrets.js';
import type { HttpAuth } from './http/session-requests.js';
import type { SessionTransport } from './session-transport.js';

export interface TransportTerms {
  readonly stop: StopPolicy;
  readonly clock: Clock;
  /** Strikes secrets out of what the server says about itself. */
  readonly mask: Mask;
  /** Where a remote server's tokens come from. Default: nowhere. */
  readonly auth?: HttpAuth | undefined;
}

export type CreateTransport = (config: ServerConfig, terms: TransportTerms) => Promise<SessionTransport>;
