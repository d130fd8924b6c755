/**
 * Clients that connect, call, receive requests, cancel, fall silent and leave in any order never receive data of each
 * other, whatever happens to the server.
 */
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServerConfig, ServerSettings, Isolation } from '../../../src/config/entry/server-config.js';
import { createGateway } from '../../../src/gateway/gateway.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime } from '../../support/test-troupe.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { ANSWERS_ALL, connectClient, type TestClient } from '../../support/gateway-rig.js';

const TOOLS = ['ask', 'ask', 'ask', 'log', 'steps', 'wait', 'echo'] as const;

type Step =
  | {
      readonly do: 'call';
      readonly who: number;
      readonly tool: (typeof TOOLS)[number];
      readonly relates: boolean;
    }
  | { readonly do: 'cancel' | 'leave' | 'fall silent' | 'vanish'; readonly who: number }
  | { readonly do: 'release' | 'pass' | 'crash' | 'restart' | 'reload' };

const who = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      who,
      tool: fc.constantFrom(...TOOLS),
      relates: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('leave' as const, 'fall silent' as const, 'vanish' as const),
      who,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'pass' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'restart' as const, 'reload' as const) }),
  },
);

interface Call {
  readonly of: TestClient;
  readonly tag: string;
  readonly cancel: AbortController;
  readonly settled: Promise<string | Error>;
}

/** One run: a gateway with up to three clients. */
class Run {
  readonly clock = createControlledClock();
  readonly upstream = new AskingUpstream();
  readonly gateway;
  readonly clients: TestClient[] = [];
  readonly present: (TestClient | undefined)[] = [];
  readonly calls: Call[] = [];
  readonly progress: string[] = [];
  #reloads = 0;

  constructor(
    readonly isolation: Isolation | undefined,
    /** By client; a client with 0 answers no requests. */
    readonly answers: number[],
  ) {
    const servers = { a: this.#entry() };
    this.gateway = createGateway({ clock: this.clock, seed: 1, servers, questionTimeoutMs: 20_000 });
  }

  #entry(settings: ServerSettings = {}): ServerConfig {
    return this.upstream.entry({
      ...settings,
      ...(this.isolation === undefined ? {} : { isolation: this.isolation }),
    });
  }

  async take(each: Step): Promise<void> {
    switch (each.do) {
      case 'call':
        this.#call(await this.#client(each.who), each.tool, each.relates);
        break;
      case 'cancel':
        this.calls.findLast(({ of }) => of === this.present[each.who])?.cancel.abort();
        break;
      case 'leave':
        await this.present[each.who]?.client.close();
        this.present[each.who] = undefined;
        break;
      case 'fall silent':
        this.present[each.who]?.holdAnswers(new Promise(() => {}));
        break;
      case 'vanish':
        this.present[each.who]?.holdAnswers(new Promise(() => {}));
        this.present[each.who]?.goAway(this.clock.now());
        this.present[each.who] = undefined;
        break;
      case 'crash':
        await this.upstream.connections.at(-1)?.server.close();
        break;
      case 'restart':
        void this.gateway.troupe
          .connection('a')
          ?.restart()
          .catch(() => {});
        break;
      case 'reload':
        this.#reloads += 1;
        void this.gateway.troupe
          .reload({ a: this.#entry({ maxConcurrentCalls: this.#reloads }) })
          .catch(() => {});
        break;
      case 'release':
        this.release();
        break;
      case 'pass':
        await turn();
    }
  }

  release(): void {
    for (const { tag } of this.calls) this.upstream.gate(tag).open();
  }

  /** The client at an index. After it has left, a new client takes its place. */
  async #client(index: number): Promise<TestClient> {
    const present = this.present[index];
    if (present !== undefined) return present;
    const name = `client${this.clients.length}`;
    const capabilities = this.answers[index] === 0 ? {} : ANSWERS_ALL;
    const client = await connectClient(this.gateway, name, { capabilities });
    this.clients.push(client);
    this.present[index] = client;
    return client;
  }

  #call(of: TestClient, tool: string, relates: boolean): void {
    const tag = `${of.name}/${this.calls.length}`;
    const cancel = new AbortController();
    const onprogress = ({ message }: { message?: string | undefined }): void => {
      this.progress.push(`${of.name} hears ${message ?? ''}`);
    };
    const params = { name: `mcp__a__${tool}`, arguments: { for: tag, relates } };
    const calling = of.client.callTool(params, undefined, { signal: cancel.signal, onprogress });
    const settled = calling.then(
      (result) => JSON.stringify(result),
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    this.calls.push({ of, tag, cancel, settled });
  }
}

function isFor(name: string, content: string): boolean {
  return content.includes(`for ${name}/`) && !/client\d+/g.test(content.replaceAll(`${name}/`, ''));
}

/** Returns the number of calls with a result. */
async function check(run: Run): Promise<number> {
  run.release();
  const outcomes = await passTime(run.clock, Promise.all(run.calls.map(({ settled }) => settled)), 600_000);
  for (const [index, outcome] of outcomes.entries()) {
    const { of, tag } = run.calls[index] as Call;
    if (outcome instanceof Error) continue;
    if (!outcome.includes('mcp-troupe/error')) expect(outcome).toContain(tag);
    expect(outcome.replaceAll(tag, '').match(/client\d+/g) ?? []).toSatisfy((names: string[]) =>
      names.every((name) => name === of.name),
    );
  }
  for (const { name, questions, of } of run.clients) {
    for (const question of questions)
      expect(isFor(name, question), `${name} was asked ${question}`).toBe(true);
    for (const log of of('notifications/message')) {
      expect(isFor(name, String(log['data'])), `${name} heard ${String(log['data'])}`).toBe(true);
    }
  }
  for (const heard of run.progress) expect(heard).toMatch(/^(client\d+) hears for \1\//);
  return outcomes.filter((outcome) => typeof outcome === 'string').length;
}

describe('with up to three clients', () => {
  useLeakCheck();
  useCrashWatch();
  // Loaded in advance, because the clock stands still.
  beforeAll(() => import('../../../src/actors/configuration-effects.js'));

  it('no question, log, progress or result reaches another client, and every call settles', async () => {
    const isolation = fc.constantFrom(
      undefined,
      'shared' as const,
      'shared' as const,
      'per-session' as const,
    );
    const answers = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 3, maxLength: 3 });
    const steps = fc.array(step, { minLength: 4, maxLength: 14 });
    const reached = { questions: 0, logs: 0, progress: 0, results: 0 };
    await fc.assert(
      fc.asyncProperty(isolation, answers, steps, async (how, who, taken) => {
        const run = new Run(how, who);
        try {
          await run.gateway.start();
          for (const each of taken) await run.take(each);
          reached.results += await check(run);
          reached.progress += run.progress.length;
          for (const { questions, of } of run.clients) {
            reached.questions += questions.length;
            reached.logs += of('notifications/message').length;
          }
        } finally {
          for (const { client } of run.clients) await client.close();
          await passTime(run.clock, run.gateway.close());
        }
      }),
      { numRuns: 60, seed: 20_261_128, endOnFailure: true },
    );
    // Makes sure that the runs reached every kind of message.
    for (const [what, count] of Object.entries(reached)) expect(count, what).toBeGreaterThan(5);
  }, 60_000);
});
