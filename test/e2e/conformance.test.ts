/** A few scenarios of the conformance suites, and the page that lists the scenarios of the complete run. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';
import { conformancePage, PARTS, playPart, startGateway, type Part } from '../support/tools/conformance.js';

useLeakCheck();

const LIMIT_MS = 60_000;
const PAGE = fileURLToPath(new URL('../../docs/reference/conformance.md', import.meta.url));

const within = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);

function part(wanted: string): Part {
  const found = PARTS.find(({ id }) => id === wanted);
  if (found === undefined) throw new Error(`There is no part ${wanted}.`);
  return found;
}

describe('the conformance suites', () => {
  it.each([
    ['client', 'elicitation-sep1034-client-defaults'],
    ['client', 'auth/scope-step-up'],
    ['client', 'auth/cross-app-access-complete-flow'],
    ['client-2025-11-25', 'sse-retry'],
    ['client-2026-07-28', 'request-metadata'],
    ['client-2026-07-28', 'sep-2322-client-request-state'],
  ])(
    'find nothing wrong with Troupe in the %s scenario %s.',
    async (id, scenario) => {
      const { found, problems } = await playPart(part(id), { only: [scenario], signal: within() });
      expect([problems, found.map(({ name }) => name)]).toEqual([[], [scenario]]);
    },
    LIMIT_MS,
  );

  // The suite waits for some answers for only 600 ms, which is too short on a busy machine.
  it.each(['server', 'server-2026-07-28'])(
    'find nothing wrong with the gateway in the part %s, which then exits with 0.',
    { timeout: LIMIT_MS, retry: 2 },
    async (id) => {
      const played = part(id);
      const gateway = await startGateway(played.fixture);
      try {
        const { problems } = await playPart(played, { url: gateway.url, signal: within() });
        expect(problems).toEqual([]);
      } finally {
        expect(await gateway.close()).toBe(0);
      }
    },
  );
});

describe('the page on conformance', () => {
  it('lists the scenarios of the complete run.', async () => {
    const page = await conformancePage(PARTS, await resolveConfig(PAGE));
    expect(await readFile(PAGE, 'utf8'), 'run npm run test:conformance to update the page').toBe(page);
  });
});
