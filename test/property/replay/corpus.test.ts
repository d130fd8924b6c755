/** Logs of real incidents replay with the current charts. `make-corpus.mjs` records them and their summaries. */
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { replayLog } from '../../../src/event-log/replay/replay-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();
useCrashWatch();

const folder = fileURLToPath(new URL('corpus', import.meta.url));
const logs = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));

describe('the corpus', () => {
  it('has logs of a dozen incidents.', () => {
    expect(logs.length).toBeGreaterThanOrEqual(12);
  });

  it.each(logs)('replays with actors and with the fold to the summary of its recording: %s.', async (log) => {
    const report = await replayLog(createReadStream(`${folder}/${log}`));
    expect(report.problem).toBeUndefined();
    expect(report.divergences).toEqual([]);
    expect(report.whyNoRerun).toBeUndefined();
    const connections = [...report.connections].map(([name, { state, attempts, failureCodes, rejected }]) => [
      name,
      {
        state: state.split('.')[0],
        attempts,
        failureCodes: { ...failureCodes },
        rejected: rejected.map(({ event }) => event),
      },
    ]);
    const summary = readFileSync(`${folder}/${log.replace('.jsonl', '.summary.json')}`, 'utf8');
    expect({ entries: report.entries, connections: Object.fromEntries(connections) }).toEqual(
      JSON.parse(summary),
    );
  });

  it('contains no path of the machine that recorded it.', () => {
    for (const log of logs) {
      const text = readFileSync(`${folder}/${log}`, 'utf8');
      expect(text).not.toMatch(/\/(?:home|Users|root|work|tmp)\//);
    }
  });
});
