/** What a walk with real servers does when the host, the path or the server is not as expected. */
import { describe, expect, it } from 'vitest';
import type { ConnectionMachine } from '../../../machines/connection/connection.machine.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { connectionModel } from '../../../src/testing/connection-model.js';
import { edgePaths, errorEvent, type EdgePath } from '../../../src/testing/edge-paths.js';
import { transitionCoverage } from '../../../src/testing/transition-coverage.js';
import { beyondReach, serverModel } from '../../../src/testing/walks/server-model.js';
import { walkWithServers } from '../../../src/testing/walks/walk-with-servers.js';
import type { WalkOptions } from '../../../src/testing/walk-host.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const open = (options: WalkOptions) => createTroupe({ ...options });
const model = serverModel();
const remote = model.inputs.filter((input) => (input as { transport: string }).transport === 'http');
const { paths } = edgePaths(model.machine, { ...model, inputs: remote, maxSnapshots: 60 });

function pathTo(edge: string): EdgePath<ConnectionMachine> {
  const path = paths.find((each) => each.edge === edge);
  if (path === undefined) throw new Error(`There is no path to ${edge}.`);
  return path;
}

const HANDSHAKE = 'connection.starting.handshaking.initializing|xstate.done.actor.handshake|0';

describe('a walk with servers', () => {
  it('takes the transition, and says who caused it.', async () => {
    const coverage = transitionCoverage();
    const shown: string[] = [];
    const check = ({ status }: { status: { state: string } }): void => void shown.push(status.state);
    expect(await walkWithServers(pathTo(HANDSHAKE), { open, check, coverage })).toBe('server');
    expect(coverage.missing).not.toContain(HANDSHAKE);
    expect(shown).toEqual(['configuring', 'launching', 'handshaking', 'handshaking']);
    const refresh = 'connection.configuring|connection.stop|0';
    expect(await walkWithServers(pathTo(refresh), { open })).toBe('host');
  });

  it('names the step, both states and what the server received, if the status is another one.', async () => {
    const path = pathTo(HANDSHAKE);
    const wrong = path.steps.map((step, at) =>
      at < path.steps.length - 1 ? step : { ...step, state: 'ready' },
    );
    const walk = walkWithServers({ ...path, steps: wrong }, { open }, { waitMs: 2_000 });
    await expect(walk).rejects.toThrow(
      /^Step 3 \('xstate\.done\.actor\.handshake'\) of .*: the status is 'handshaking' \('listing'\), and should be 'ready' .*received, by session: 1: initialize/s,
    );
  });

  it('refuses an event that has no cause, an effect that does not begin, and a host that drops the options.', async () => {
    const path = pathTo(HANDSHAKE);
    const [resolved, ...others] = path.steps;
    const failure = { code: 'connection-lost', message: 'A sample.', phase: 'configure', at: 0 };
    const event = errorEvent('resolveConfig', failure) as never;
    const unreal = { ...path, steps: [{ ...resolved!, event }, ...others] };
    await expect(walkWithServers(unreal, { open })).rejects.toThrow('nothing outside of Troupe causes');
    const early = walkWithServers({ ...path, steps: others }, { open }, { waitMs: 50 });
    await expect(early).rejects.toThrow("the effect 'openTransport' does not begin");
    const deaf = walkWithServers(path, { open: ({ servers }) => createTroupe({ servers, cache: false }) });
    await expect(deaf).rejects.toThrow('Pass on all options');
  });

  it('rejects with what the check of the host throws, and closes all.', async () => {
    const check = (): never => {
      throw new Error('The window shows nothing.');
    };
    await expect(walkWithServers(pathTo(HANDSHAKE), { open, check })).rejects.toThrow('The window');
    const misspelt = { waitms: 1 } as never;
    await expect(walkWithServers(pathTo(HANDSHAKE), { open }, misspelt)).rejects.toThrow("'waitms'");
  });

  it('has a reason for each transition that is beyond reach, and for no other.', () => {
    const all = connectionModel();
    expect(Object.keys(beyondReach(['connection.configuring.beginning||0']))).toHaveLength(1);
    expect(() => beyondReach([HANDSHAKE])).toThrow(HANDSHAKE);
    expect(model.inputs.length).toBe(all.inputs.length - 2);
  });
});
