/** A server that repeats a secret of its entry in a tool: the review neither stores nor shows the secret. */
import { describe, expect, it } from 'vitest';
import { createMemoryReviewStore, type ReviewStore } from '../../../src/review/review-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

/** A store that serializes its tools, as one on a disk does. */
function serializingStore(): { store: ReviewStore; written: string[] } {
  const memory = createMemoryReviewStore();
  const written: string[] = [];
  const write = <T>(value: T): T => {
    written.push(JSON.stringify(value));
    return JSON.parse(JSON.stringify(value)) as T;
  };
  return {
    store: {
      baseline: (of, first) => memory.baseline(of, write(first)),
      accept: (of, tools) => memory.accept(of, write(tools)),
    },
    written,
  };
}

const SECRET = 'sk-9876543210';
const leaky = (words = 'uses'): ReturnType<typeof tool> =>
  tool('leaky', { description: `${words} ${SECRET}` });

async function begin(server: FakeServer, store: ReviewStore, secret = SECRET) {
  const entry = { ...fakeProgram(server), env: { API_KEY: '${THE_KEY}' } };
  const test = make({
    servers: { a: entry },
    env: { THE_KEY: secret },
    cache: false,
    review: { mode: 'hold-changes', store },
  });
  await passTime(test.clock, test.troupe.start());
  return test;
}

const server = (...tools: ReturnType<typeof tool>[]): FakeServer =>
  new FakeServer(() => ({ kind: 'stdio' }), { tools });

describe('a tool that repeats a secret of its entry', () => {
  it('is stored without it, accepted or changed, and recognized by the next run', async () => {
    const { store, written } = serializingStore();
    const one = server(leaky());
    const first = await begin(one, store);
    expect(first.troupe.tools).toMatchObject([{ tool: 'leaky', description: `uses ${SECRET}` }]);
    one.peer.script = { ...one.peer.script, tools: [leaky('sends')] };
    await passTime(first.clock, first.troupe.connection('a')!.refresh());
    const { held } = first.troupe.review;
    expect(held).toMatchObject([{ tool: 'leaky', reason: 'changed', fields: ['description'] }]);
    expect(JSON.stringify(held)).not.toContain(SECRET);
    await passTime(first.clock, first.troupe.review.accept(held[0]!));
    expect(first.troupe.tools).toHaveLength(1);
    await passTime(first.clock, first.troupe.close());
    expect(written.length).toBeGreaterThan(1);
    expect(written.join()).not.toContain(SECRET);
    const second = await begin(one, store);
    expect(second.troupe.tools).toHaveLength(1);
    expect(second.troupe.review.held).toEqual([]);
    expect(JSON.stringify([first.events.all, second.events.all])).not.toContain(SECRET);
  });

  it('is held if only the secret differs', async () => {
    const store = createMemoryReviewStore();
    const one = server(leaky());
    await begin(one, store);
    const other = 'sk-0123456789';
    one.peer.script = { ...one.peer.script, tools: [tool('leaky', { description: `uses ${other}` })] };
    const { troupe } = await begin(one, store, other);
    expect(troupe.review.held).toMatchObject([{ tool: 'leaky', reason: 'changed', fields: [] }]);
    await expect(troupe.callTool('mcp__a__leaky')).rejects.toMatchObject({
      code: 'TOOL_HELD',
      reason: 'changed',
      fields: [],
    });
  });
});
