/** Random sequences of commands for a host, with the oracle of the kit and a part of this host's own. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import {
  createScriptedServer,
  HOST_POLICY,
  HOST_START,
  hostCommands,
  type HostModel,
  type HostUnderCommands,
} from '../../../src/testing/index.js';
import { useLeakCheck } from '../../support/leak-check.js';

interface Host extends HostUnderCommands {
  /** What this host shows. */
  readonly lights: string[];
}

async function opened(): Promise<Host> {
  const server = createScriptedServer();
  const entry = { type: 'in-process', server, policy: HOST_POLICY } as const;
  const troupe: Troupe = createTroupe({ servers: { files: entry }, cache: false });
  const lights: string[] = [];
  troupe.status$.subscribe(([row]) => lights.push(row?.state === 'ready' ? 'green' : 'red'));
  await troupe.start();
  return { server, troupe, name: 'files', lights };
}

describe('commands for a host', () => {
  useLeakCheck();

  it('agree with their oracle in any order, and with what the host adds.', async () => {
    const commands = hostCommands<HostModel, Host>(({ state }, { lights }) => {
      expect(lights.at(-1)).toBe(state === 'ready' ? 'green' : 'red');
    });
    const run = new Set<string>();
    const counted = commands.map((command) =>
      fc.constant({
        ...command,
        run: async (model: HostModel, host: Host) => {
          run.add(String(command));
          await command.run(model, host);
        },
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.commands(counted, { maxCommands: 20, size: 'max' }), async (story) => {
        const host = await opened();
        try {
          await fc.asyncModelRun(() => ({ model: { ...HOST_START }, real: host }), story);
        } finally {
          await host.troupe.close();
        }
      }),
      { numRuns: 40, seed: 7 },
    );
    expect([...run].toSorted()).toEqual(commands.map(String).toSorted());
  });

  it('find a host that does not do what it should.', async () => {
    const host = await opened();
    const [stop] = hostCommands().filter((each) => String(each) === 'stop');
    const deaf = { ...host, name: 'files', server: createScriptedServer() };
    const [crash] = hostCommands(() => {
      throw new Error('the host shows nothing');
    });
    await expect(crash!.run({ ...HOST_START }, deaf)).rejects.toThrow();
    await stop!.run({ ...HOST_START }, host);
    await host.troupe.close();
  });
});
