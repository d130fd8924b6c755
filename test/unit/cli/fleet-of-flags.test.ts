/** The fleet of a command line: which engine, which key, and what is said if one of them cannot be used. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { UsageError } from '../../../src/cli/exit.js';
import { fleetOf, type FleetFlags } from '../../../src/cli/fleet-of-flags.js';
import { FLEET_KEY, SAID } from '../../support/fleet-host.js';
import { useLeakCheck } from '../../support/leak-check.js';

/** Nobody listens there. */
const NOWHERE = 'redis://user:s3cret@127.0.0.1:1';

function withVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe('the fleet of a command', () => {
  useLeakCheck();

  it('is none without an address.', async () => {
    withVariables({ TROUPE_FLEET: undefined });
    expect(await fleetOf({})).toBeUndefined();
    await expect(fleetOf({ fleetAddress: 'http://x' })).rejects.toThrow(UsageError);
  });

  it('has the engine and the key of the variables, and the address of the flag.', async () => {
    withVariables({ TROUPE_FLEET: NOWHERE, TROUPE_FLEET_KEY: FLEET_KEY });
    const joined = await fleetOf({ fleetAddress: 'http://10.0.0.1:80' });
    expect(joined?.fleet.engine.isUp).toBe(false);
    await joined?.fleet.hosts.announce(SAID);
    await joined?.fleet.hosts.leave();
    await joined?.close();
  });

  it.each<readonly [string, FleetFlags, string]>([
    ['another protocol', { fleet: 'http://user:s3cret@x' }, FLEET_KEY],
    ['no key', { fleet: NOWHERE }, ''],
    ['a key that is none', { fleet: NOWHERE }, 's3cret'],
    ['an address of this host that is none', { fleet: NOWHERE, fleetAddress: 'ftp://s3cret' }, FLEET_KEY],
  ])('is refused for %s, without showing it; nothing stays open.', async (_, flags, key) => {
    withVariables({ TROUPE_FLEET: undefined, TROUPE_FLEET_KEY: key });
    const error = await fleetOf(flags).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).not.toContain('s3cret');
  });
});
