/** What every transport is given beside its entry. */
import type { StopPolicy } from '../../machines/policy/policy.js';
import type { ServerConfig } from '../options.js';
import type { Clock } from '../ports.js';
import type { Mask } from '../secrets.js';
import type { SessionTransport } from './session-transport.js';

export interface TransportTerms {
  readonly stop: StopPolicy;
  readonly clock: Clock;
  /** Strikes secrets out of what the server says about itself. */
  readonly mask: Mask;
}

export type CreateTransport = (config: ServerConfig, terms: TransportTerms) => Promise<SessionTransport>;
