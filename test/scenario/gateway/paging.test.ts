/** Long lists are sent in pages. */
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../../src/gateway/client/pages.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { useGateways, type TestClient } from '../../support/gateway-rig.js';

const tools = (count: number): ReturnType<typeof tool>[] =>
  Array.from({ length: count }, (_, n) => tool(`t${String(n).padStart(5, '0')}`));

interface Listed {
  readonly tools: { readonly name: string }[];
  readonly nextCursor?: string;
}

async function page({ client }: TestClient, cursor?: unknown): Promise<Listed> {
  const params = (cursor === undefined ? {} : { cursor }) as { cursor?: string };
  return (await client.request({ method: 'tools/list', params }, ResultSchema)) as unknown as Listed;
}

/** Every page of the tools, as names. */
async function pages(one: TestClient): Promise<string[][]> {
  const all: string[][] = [];
  let cursor: string | undefined;
  do {
    const listed = await page(one, cursor);
    all.push(listed.tools.map(({ name }) => name));
    cursor = listed.nextCursor;
  } while (cursor !== undefined);
  return all;
}

describe('a long list', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  it('is sent in pages that together contain each entry once', async () => {
    const a = new AskingUpstream({ tools: tools(6) });
    const b = new AskingUpstream({ tools: tools(5) });
    const { gateway, client } = make({
      servers: { a: a.entry(), b: b.entry() },
      pageSize: 4,
      adminTools: true,
    });
    await gateway.start();
    const ada = await client('Ada');
    const all = await pages(ada);
    expect(all.map(({ length }) => length)).toEqual([4, 4, 4, 2]);
    expect(new Set(all.flat()).size).toBe(14);
    expect(all.flat().at(-1)).toBe('troupe_restart');
    const first = await ada.client.listResources();
    expect(first.nextCursor).toBeUndefined();
  });

  it('is sent in pages of a thousand entries by default', async () => {
    const a = new AskingUpstream({ tools: tools(1_001) });
    const { gateway, client } = make({ servers: { a: a.entry() } });
    await gateway.start();
    const ada = await client('Ada');
    expect((await pages(ada)).map(({ length }) => length)).toEqual([1_000, 1]);
    expect(await ada.call('mcp__a__t01000')).toContain('t01000');
  });

  it('continues at the same entry after earlier ones were removed, and rejects the cursor once that entry is gone', async () => {
    const a = new AskingUpstream({ tools: tools(9) });
    const { gateway, client, clock } = make({ servers: { a: a.entry() }, pageSize: 4 });
    await gateway.start();
    const ada = await client('Ada');
    const { nextCursor } = await page(ada);
    a.tools = a.tools.slice(2);
    await a.connections[0]?.server.sendToolListChanged();
    await passTime(clock, ada.whenNotified('notifications/tools/list_changed'));
    const second = await page(ada, nextCursor);
    expect(second.tools[0]?.name).toBe('mcp__a__t00004');
    a.tools = a.tools.slice(5);
    await a.connections[0]?.server.sendToolListChanged();
    await passTime(clock, ada.whenNotified('notifications/tools/list_changed', 2));
    await expect(page(ada, nextCursor)).rejects.toMatchObject({ code: -32_602 });
  });

  it('accepts only its own cursors', async () => {
    const a = new AskingUpstream({ tools: tools(9) });
    const { gateway, client } = make({ servers: { a: a.entry() }, pageSize: 4 });
    await gateway.start();
    const ada = await client('Ada');
    const { nextCursor = '' } = await page(ada);
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const bad = [
      '',
      'zzz',
      '%',
      7,
      null,
      {},
      encode(7),
      encode(null),
      encode([]),
      encode(['tools', -1, 'x']),
    ];
    bad.push(
      encode(['tools', 1e9, 'x']),
      encode(['tools', 0.5, 'x']),
      encode(['tools', '1', 'x']),
      `${nextCursor}A`,
    );
    for (const cursor of bad.filter((each) => each !== undefined)) {
      await expect(page(ada, cursor), JSON.stringify(cursor)).rejects.toMatchObject({ code: -32_602 });
    }
    const prompts = { method: 'prompts/list', params: { cursor: nextCursor } };
    await expect(ada.client.request(prompts, ResultSchema)).rejects.toMatchObject({ code: -32_602 });
  });

  it('has one page if it fits, and no empty page but the first', () => {
    const list = (count: number): ReturnType<typeof pageOf<string>> =>
      pageOf(
        { list: 'x', entries: tools(count).map(({ name }) => name), keyOf: (n) => n, pageSize: 3 },
        undefined,
      );
    expect(
      [0, 1, 3, 4].map((count) => [list(count).entries.length, list(count).nextCursor !== undefined]),
    ).toEqual([
      [0, false],
      [1, false],
      [3, false],
      [3, true],
    ]);
  });
});
