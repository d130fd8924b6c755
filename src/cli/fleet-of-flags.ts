/** The fleet of a command: `--fleet URL`, the variable of it, and the key. What an engine needs is loaded on demand. */
import type { AuthOptions } from '../auth/auth-options.js';
import type { FleetEngine } from '../fleet/engine.js';
import type { Fleet } from '../fleet/stores.js';
import { UsageError } from './exit.js';
import { codeOf } from '../text/error-message.js';

export interface FleetFlags {
  /** Address of the engine. Default: the variable `TROUPE_FLEET`, or no fleet. */
  readonly fleet?: string;
  /** Where other hosts reach this one. Default: where it listens. */
  readonly fleetAddress?: string;
}

/** The environment variable with the address of the engine. */
export const FLEET_VARIABLE = 'TROUPE_FLEET';

/** A fleet, and how it ends. */
export interface OpenFleet {
  readonly fleet: Fleet;
  /** Sign-ins, like approvals and accepted tools, stay in the files of the user: `login` writes them there. */
  readonly auth: AuthOptions;
  /** Call it after the troupe is closed. */
  close(): Promise<void>;
}

const REDIS = ['@redis/client'];
const NATS = ['@nats-io/transport-node', '@nats-io/jetstream', '@nats-io/kv'];

/** The engine of each protocol. */
const ENGINES: Readonly<
  Record<
    string,
    { readonly packages: readonly string[]; readonly make: (address: string) => Promise<FleetEngine> }
  >
> = {
  'redis:': { packages: REDIS, make: makeRedis },
  'rediss:': { packages: REDIS, make: makeRedis },
  'nats:': { packages: NATS, make: makeNats },
  'tls:': { packages: NATS, make: makeNats },
};

async function makeRedis(address: string): Promise<FleetEngine> {
  const { createRedisEngine } = await import('../adapters/fleet-redis.js');
  return createRedisEngine({ address });
}

async function makeNats(address: string): Promise<FleetEngine> {
  const { createNatsEngine } = await import('../adapters/fleet-nats.js');
  return createNatsEngine({ address });
}

/**
 * Undefined without a fleet. Throws a `UsageError` if the engine's package is not installed, or if its address, the key or the
 * address of this host cannot be used. No message shows them.
 */
export async function fleetOf(flags: FleetFlags): Promise<OpenFleet | undefined> {
  const address = flags.fleet ?? process.env[FLEET_VARIABLE] ?? '';
  if (address === '') {
    if (flags.fleetAddress !== undefined)
      throw new UsageError(`--fleet-address requires --fleet, or ${FLEET_VARIABLE}`);
    return undefined;
  }
  const protocol = /^[a-z]+:/.exec(address)?.[0] ?? '';
  const known = ENGINES[protocol];
  if (known === undefined)
    throw new UsageError(
      `--fleet: expected an address that begins with ${Object.keys(ENGINES).join('//, ')}//`,
    );
  const [{ createFleet }, { createFileTokenStore }] = await Promise.all([
    import('../fleet/stores.js'),
    import('../auth/stores/file-token-store.js'),
  ]);
  let engine: FleetEngine | undefined;
  try {
    engine = await known.make(address);
    const { fleetAddress } = flags;
    const fleet = createFleet({ engine, ...(fleetAddress !== undefined && { address: fleetAddress }) });
    const auth = { interactive: false, store: createFileTokenStore() } as const;
    return { fleet, auth, close: async () => engine?.close() };
  } catch (error) {
    await engine?.close();
    if (error instanceof TypeError) throw new UsageError(`--fleet: ${error.message}`);
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const missing = known.packages.join(' ');
    throw new UsageError(
      `--fleet ${protocol}// needs a package that is not installed: npm install ${missing}`,
    );
  }
}
