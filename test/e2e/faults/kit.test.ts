/**
 * The cases of the fault kit, each with its own host process on the built package. The descriptions of some cases expect
 * more than their checks cover: those cases have further checks here.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { longestOf, readCaseFile, runCase, type FaultCase } from '../../support/tools/faults.js';

const LIMIT_MS = 180_000;

const DESCRIBED: Readonly<Record<string, FaultCase['checks']>> = {
  'stdout-banner': { diagnosticsMax: 2 },
  'deaf-to-shutdown': { journal: { 'signal:SIGTERM': 1, 'signal:SIGINT': 0, 'signal:SIGHUP': 0 } },
  'cursor-loop': { diagnosticsName: ['^kit: .*(cursor|page)'] },
  'dangling-output-ref': { diagnosticsName: ['lamp_report'] },
  'unknown-ids': { diagnosticsName: ['^kit: '], diagnosticsMax: 12 },
  'awkward-names': { uniqueExposedNames: true },
  'progress-extends': { journal: { 'progress-token:true': 1 } },
  'cancel-reaches-server': { journal: { 'cancelled:true': 1, 'cancelled:false': 0 } },
  'dies-in-a-call': { errorNames: ['70'], selfHeals: true },
  'flaps-forever': { state: 'failed' },
  'get-closes': { growingGaps: 'GET /mcp' },
  'redirect-slash': { requests: { 'auth missing on /mcp': 0, 'auth is Bearer harbour-key-1': { min: 7 } } },
  'config-env-header': {
    requests: { 'auth missing on /mcp': 0, 'x-harbour missing on /mcp': 0, 'x-harbour is north': { min: 2 } },
  },
  'config-url-and-command': {
    errorNames: ['stdio-with-url.*stdio.*url|stdio-with-url.*url.*stdio', 'strange-type.*type'],
  },
  'config-env-missing': { errorNames: ['needs-key.*LANTERN_KEY_THAT_IS_NOT_SET'] },
  'oauth-parallel-refresh': { secretsHidden: ['refresh-0', 'refresh-1', 'access-1'] },
};

const kit = readCaseFile(fileURLToPath(new URL('../../../tools/faults/kit/cases.json', import.meta.url)));

function theCase(id: string): FaultCase {
  const found = kit.cases.find((kase) => kase.id === id);
  if (found === undefined) throw new Error(`The kit has no case ${id}.`);
  return found;
}

/** Adds the checks of the description. If both limit the same value, both limits apply. */
function withDescribed(kase: FaultCase): FaultCase {
  const more = DESCRIBED[kase.id];
  return more === undefined ? kase : { ...kase, checks: { ...kase.checks, anyOf: [more] } };
}

async function expectNoDifference(kase: FaultCase): Promise<void> {
  const { differences } = await runCase(kase, kit.folder);
  expect(differences).toEqual([]);
}

useLeakCheck();

describe('The outcome is as expected when', { concurrent: true, timeout: LIMIT_MS }, () => {
  it('the further checks are for existing cases.', () => {
    for (const id of Object.keys(DESCRIBED)) expect(theCase(id).checks['anyOf']).toBeUndefined();
  });

  // The longest cases start first, so that none of them remains at the end.
  for (const kase of kit.cases.toSorted((a, b) => longestOf(b) - longestOf(a))) {
    it(`${kase.id}: ${kase.fault}`, () => expectNoDifference(withDescribed(kase)));
  }

  it('old-sse: the entry has no type', async () => {
    const { client: _, ...untyped } = theCase('old-sse');
    await expectNoDifference(untyped);
  });

  it.each(['uncaught-error', 'SIGKILL', 'SIGHUP'])('host-dies: the cause is %s', async (signal) => {
    const kase = theCase('host-dies');
    const steps = kase.steps.map((step) => (step['do'] === 'kill-host' ? { ...step, signal } : step));
    await expectNoDifference({ ...kase, steps });
  });
});
