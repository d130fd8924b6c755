/** A file store that several processes share, on the system clock, because the watch of the files uses it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFileReviewStore } from '../../../src/review/review-store.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { recordEvents } from '../../support/event-record.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess } from '../../support/test-troupe.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

useInotify();

describe('a running troupe', () => {
  useLeakCheck();

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-shared-reviews-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it(
    'uses what another process accepts, and keeps the acceptances when it ends',
    { timeout: 60_000 },
    async () => {
      const server = new ScriptedServer({ tools: [tool('read'), tool('write')] });
      const options = {
        cache: false,
        review: { mode: 'hold-changes', store: createFileReviewStore({ folder }) },
        servers: { fs: inProcess(server) },
      } as const;
      const troupe = createTroupe(options);
      const events = recordEvents(troupe.events$);
      try {
        await troupe.start();
        server.script = { tools: [tool('read', { title: 'other' }), tool('write')] };
        await troupe.connection('fs')?.refresh();
        expect(troupe.tools.map((each) => each.tool)).toEqual(['write']);
        const [held] = troupe.review.held;
        const [file = ''] = await readdir(folder);
        // The watch starts some time after the troupe.
        await vi.waitFor(
          async () => {
            const other = createFileReviewStore({ folder });
            await other.accept({ server: 'fs', hash: file.replace('.json', '') }, [held!.listed]);
            expect(troupe.tools.map((each) => each.tool)).toEqual(['read', 'write']);
          },
          { timeout: WAIT_LIMIT_MS },
        );
        expect(events.of('tool.accepted')).toMatchObject([{ tool: 'read', fingerprint: held?.fingerprint }]);
      } finally {
        await troupe.close();
      }
      const next = createTroupe(options);
      await next.start();
      expect(next.tools.map((each) => each.title)).toEqual(['other', undefined]);
      await next.close();
    },
  );
});
