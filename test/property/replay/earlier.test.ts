/**
 * Logs of incidents that earlier charts recorded, unchanged except for the format version: each replays as far as the
 * charts agree, and the report names the entry at which they diverge and the difference.
 */
import { createReadStream, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { statePath } from '../../../machines/connection/public-state.js';
import { replayLog } from '../../../src/event-log/replay/replay-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();
useCrashWatch();

const folder = fileURLToPath(new URL('corpus/earlier', import.meta.url));
const logs = readdirSync(folder);

/** One effect now reads the list of tools, and another adopts it. */
const listed = (entry: number, expected = 'ready.resting+current') =>
  ({ entry, event: expect.stringMatching(/\.listTools$/), expected, found: 'handshaking.listing' }) as const;

/** The cause of a failure is now a state. */
const failed = (entry: number, found: string, effect: string) =>
  ({
    entry,
    event: `xstate.error.actor.${effect}`,
    expected: 'failed.releasing',
    found: `failed.${found}.releasing`,
  }) as const;

/** The divergence of the first connection in each log. */
const DIVERGENCES: Readonly<Record<string, object>> = {
  'dies-in-a-call.jsonl': listed(6),
  'exit-after-initialize.jsonl': listed(6, 'reconnecting.releasing'),
  'exit-at-once.jsonl': failed(15, 'exhausted', 'handshake'),
  'flaps-forever.jsonl': listed(6),
  'host-restarts.jsonl': listed(6),
  'http-plain.jsonl': listed(6),
  'init-future-version.jsonl': failed(5, 'permanent', 'handshake'),
  'init-never.jsonl': failed(19, 'exhausted', 'handshake'),
  'list-changed-storm.jsonl': listed(6),
  'no-tools-capability.jsonl': listed(6),
  'session-404.jsonl': listed(6),
  'stdio-plain.jsonl': listed(6),
  'unknown-command.jsonl': failed(4, 'permanent', 'openTransport'),
  'warming-up-503.jsonl': listed(17),
};

describe('a log that earlier charts recorded', () => {
  it('exists for each kind of incident.', () => {
    expect(logs.toSorted()).toEqual(Object.keys(DIVERGENCES).toSorted());
  });

  it.each(logs)('replays up to the entry at which the charts diverge, and reports it: %s.', async (log) => {
    const report = await replayLog(createReadStream(`${folder}/${log}`));
    expect(report).toMatchObject({ problem: undefined, hasOtherCharts: true });
    const manager = report.divergences.filter(({ actor }) => actor === '$');
    expect(manager).toMatchObject([{ entry: 1 }]);
    const [first] = report.divergences.filter(({ actor }) => actor !== '$');
    expect(first).toBeDefined();
    const { entry, event, expected, found } = first!;
    const divergence = { entry, event, expected: statePath(expected ?? ''), found: statePath(found ?? '') };
    expect(divergence).toEqual(DIVERGENCES[log]);
  });
});
