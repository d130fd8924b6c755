/**
 * A server shows secrets that no entry names: tokens by their form, values by their name, and what only the host knows. They
 * appear in no event, log, error, status, page or inspector, whatever the server shows them in.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { scriptedProgram } from '../../../src/testing/scripted-program.js';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { MemoryLog } from '../../support/memory-log.js';
import { outputOfTroupe, type Output } from './anywhere-output.js';

const letters = fc.stringMatching(/^[a-z]{6}[0-9]{6}$/);
const SHOWN: Readonly<Record<string, (core: string) => string>> = {
  'a token': (core) => `ghp_${core}`,
  'a bearer token': (core) => `authorization: Bearer ${core}`,
  'a password in an address': (core) => `postgres://app:${core}@db/x`,
  'a parameter': (core) => `GET /v1?access_token=${core}&page=1`,
  'a field of JSON': (core) => `{"api_key":"${core}"}`,
  'what the host knows': (core) => `for ACME-${core}.`,
};
const redact = (text: string): string => text.replaceAll(/ACME-\w+/g, '***');

/** A program that shows the text in every message and stream. */
function showing(text: string, start: ServerScript['start'] = {}): ServerScript {
  return {
    start: { stderr: text, garbage: `noise ${text}`, ...start },
    on: {
      'tools/call': [
        { error: { code: -1, message: text, data: { text } } },
        { stderr: text, fault: 'crash' },
      ],
      'resources/list': { error: { code: -1, message: text } },
      initialize: {
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, resources: {} },
          serverInfo: { name: text, version: text, title: text },
          instructions: text,
        },
      },
    },
  };
}

async function outputs(config: ServerConfig): Promise<readonly Output[]> {
  const log = new MemoryLog();
  const others = await outputOfTroupe(
    config,
    { redact, cache: false, record: { target: log, bodies: true } },
    async (troupe, recordError) => {
      const call = () => troupe.connection('parrot')?.callTool('echo', {}, { timeoutMs: 5_000 });
      for (const _ of [1, 2]) await call()?.catch(recordError);
    },
  );
  return [...others, { where: 'log', text: log.text }];
}

function expectHidden(found: readonly Output[], core: string): void {
  const shown = found.flatMap(({ where, text }) => {
    const at = text.indexOf(core);
    return at === -1 ? [] : [`${where}: …${text.slice(Math.max(0, at - 80), at + 40)}…`];
  });
  expect(shown.slice(0, 5)).toEqual([]);
}

/** Refuses everything, and shows the text in its header and body. */
async function refusing(text: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((_, response) => {
    response
      .writeHead(403, { 'www-authenticate': `Bearer error_description="${text.replaceAll('"', "'")}"` })
      .end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => void server.close() };
}

describe.each(Object.entries(SHOWN))('%s that no entry names', (_, show) => {
  useLeakCheck();

  it('is hidden if a program shows it.', async () => {
    await fc.assert(
      fc.asyncProperty(letters, async (core) => {
        expectHidden(await outputs(scriptedProgram(showing(show(core)))), core);
        expectHidden(await outputs(scriptedProgram(showing(show(core), { fault: 'crash' }))), core);
      }),
      { numRuns: 1 },
    );
  });

  it('is hidden if a refusal shows it.', async () => {
    await fc.assert(
      fc.asyncProperty(letters, async (core) => {
        const server = await refusing(show(core));
        try {
          expectHidden(await outputs({ type: 'http', url: server.url }), core);
        } finally {
          server.close();
        }
      }),
      { numRuns: 1 },
    );
  });
});
