/** The cases of the fault kit that the built package stands up to, each with a host process of its own. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';
import { readCaseFile, runCase, type FaultCase } from './runner.js';

const LIMIT_MS = 120_000;

/** Those that take long come first, so that none of them is left over at the end. */
const PASSING = [
  'init-never',
  'config-one-never-starts',
  'flaps-forever',
  'get-closes',
  'init-slow',
  'exit-at-once',
  'exit-after-initialize',
  'dies-in-a-call',
  'auth-401-midway',
  'progress-extends',
  'stdout-huge-line',
  'restart-other-tools',
  'list-changed-storm',
  'list-changed-new-tool',
  'stream-notification',
  'auth-403',
  'ping-unknown',
  'deaf-to-shutdown',
  'get-405',
  'rate-limited',
  'warming-up-503',
  'stdio-plain',
  'http-plain',
  'stdout-banner',
  'stdout-bom',
  'stdout-ansi',
  'stdout-crlf',
  'stdout-split-utf8',
  'stderr-flood',
  'unknown-command',
  'not-executable',
  'grandchild',
  'init-future-version',
  'cursor-loop',
  'bad-input-schema',
  'dangling-output-ref',
  'duplicate-tool',
  'awkward-names',
  'string-ids',
  'unknown-ids',
  'asks-the-client',
  'cancel-reaches-server',
  'secret-in-logs',
  'result-after-drop',
  'redirect-slash',
  'login-page',
  'old-sse',
  'config-type-aliases',
  'config-env-header',
  'config-cut-short',
  'config-jsonc',
  'config-bom',
  'config-one-wrong',
  'config-servers-key',
  'config-url-and-command',
  'config-env-default',
  'config-env-missing',
  'config-unknown-command',
  'config-same-tool',
  'no-tools-capability',
  'body-never-comes',
];

const kit = readCaseFile(fileURLToPath(new URL('kit/cases.json', import.meta.url)));

function theCase(id: string): FaultCase {
  const found = kit.cases.find((kase) => kase.id === id);
  if (found === undefined) throw new Error(`the kit has no case ${id}`);
  return found;
}

async function expectNoDifference(kase: FaultCase): Promise<void> {
  const { differences } = await runCase(kase, kit.folder);
  expect(differences).toEqual([]);
}

useLeakCheck();

describe('The outcome is as expected when', { concurrent: true, timeout: LIMIT_MS }, () => {
  for (const kase of PASSING.map(theCase)) {
    it(`${kase.id}: ${kase.fault}`, () => expectNoDifference(kase));
  }

  it('old-sse: the entry has no type, too.', async () => {
    const { client: _, ...untyped } = theCase('old-sse');
    await expectNoDifference(untyped);
  });
});
