/** Fifty stdio servers, ten of which never answer. They must not delay the other forty. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createTroupe, type ServerConfig } from '../../src/index.js';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

const SMALL_SERVER = fileURLToPath(new URL('../../tools/bench/small-server.mjs', import.meta.url));

it('A troupe gets forty servers ready while the ten before them stay silent, and closes all fifty', async () => {
  const entry = (...flags: string[]): ServerConfig => ({
    command: process.execPath,
    args: [SMALL_SERVER, ...flags],
  });
  const servers: Record<string, ServerConfig> = {};
  for (let i = 0; i < 10; i += 1) servers[`silent-${i}`] = entry('--silent');
  for (let i = 0; i < 40; i += 1) servers[`good-${i}`] = entry();
  const troupe = createTroupe({ servers, startGateMs: 60_000 });
  let ready = 0;
  const fortyReady = new Promise<void>((resolve) => {
    troupe.events$.subscribe((event) => {
      if (event.type === 'connection.ready' && (ready += 1) === 40) resolve();
    });
  });

  const started = troupe.start();
  await fortyReady;

  const states = new Map(troupe.status.map(({ server, state }) => [server, state]));
  const of = (kind: string) =>
    [...states].filter(([name]) => name.startsWith(kind)).map(([, state]) => state);
  expect(of('good')).toEqual(Array.from({ length: 40 }, () => 'ready'));
  expect(of('silent')).toEqual(Array.from({ length: 10 }, () => 'handshaking'));
  expect(troupe.tools).toHaveLength(400);
  await troupe.close();
  const report = await started;
  expect(report.ready).toEqual([]);
}, 60_000);
