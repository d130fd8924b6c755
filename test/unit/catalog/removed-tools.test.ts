import { describe, expect, it } from 'vitest';
import { Catalogs } from '../../../src/catalog/catalogs.js';
import type { ToolIdentity } from '../../../src/catalog/naming.js';
import type { CatalogTool } from '../../../src/catalog/registry.js';
import { RemovedTools } from '../../../src/catalog/vanished.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { silentLogger } from '../../../src/ports.js';
import { goneTool, unknownTool } from '../../../src/requests/unknown-tool.js';
import { makeStatus } from '../../support/make-status.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { tool } from '../../support/scripted-server.js';

function begin() {
  const clock = createControlledClock();
  const catalogs = new Catalogs();
  const publisher = new Publisher(clock, silentLogger);
  const names = new Map<string, string>();
  const rows = new Map([['a', makeStatus({ server: 'a' })]]);
  const denied: string[] = [];
  const removed = new RemovedTools({
    clock,
    catalogs,
    status: (server) => rows.get(server),
    filter: () => ({ deny: denied }),
    nameOf: (one: ToolIdentity) => names.get(one.tool),
  });
  removed.follow(publisher);
  return { clock, catalogs, publisher, names, rows, denied, removed };
}

const offered = (server: string) =>
  ({ name: `mcp__${server}__echo`, server, tool: 'echo' }) as unknown as CatalogTool;
const X = { name: 'mcp__a__x', server: 'a', tool: 'x' };
const changed = (generation: number) =>
  ({
    type: 'catalog.changed',
    server: 'a',
    generation,
    added: [],
    removed: ['x'],
    changed: [],
    toolCount: 0,
  }) as const;

describe('a removed tool', () => {
  it.each<readonly [string, (bench: ReturnType<typeof begin>) => void, string]>([
    ['whose server was removed', ({ rows }) => rows.clear(), "'a' was removed"],
    [
      'whose server was removed but still has a row',
      ({ rows }) => rows.set('a', makeStatus({ server: 'a', reason: 'remove' }, 'stopped')),
      "'a' was removed",
    ],
    [
      'whose server was stopped',
      ({ rows }) => rows.set('a', makeStatus({ server: 'a', reason: 'stop' }, 'stopped')),
      "'a' was stopped",
    ],
    [
      'whose server is disabled',
      ({ rows }) => rows.set('a', makeStatus({ server: 'a', reason: 'disabled' }, 'stopped')),
      "'a' was disabled",
    ],
    ['that got another name', ({ names }) => names.set('x', 'mcp__a__x_1'), "it is called 'mcp__a__x_1' now"],
    ['that a filter hides', ({ denied }) => denied.push('x'), "the entry of 'a' hides it"],
    ['that is held for review', ({ catalogs }) => void catalogs.replace('a', [tool('x')]), 'it is held back'],
  ])('%s is remembered with the reason.', (_, happen, why) => {
    const bench = begin();
    happen(bench);
    bench.removed.note([X]);
    expect(bench.removed.get(X.name)).toMatchObject({ server: 'a', at: bench.clock.now(), why });
  });

  it('has the current reason if the first one no longer applies.', () => {
    const { clock, catalogs, names, removed } = begin();
    const at = clock.now();
    catalogs.replace('a', [tool('x')]);
    removed.note([X]);
    expect(removed.get(X.name)?.why).toBe('it is held back');
    names.set('x', 'mcp__a__x_1');
    expect(removed.get(X.name)).toMatchObject({ server: 'a', at, why: "it is called 'mcp__a__x_1' now" });
    names.clear();
    catalogs.replace('a', []);
    expect(removed.get(X.name)).toMatchObject({ server: 'a', at, why: "'a' has changed its list of tools" });
  });

  it('has a different reason if the list was the first of a session.', async () => {
    const { publisher, removed } = begin();
    const after = async (generation: number): Promise<string | undefined> => {
      publisher.publish(changed(generation));
      await Promise.resolve();
      removed.note([X]);
      return removed.get(X.name)?.why;
    };
    const anew = "'a' was restarted and no longer lists it";
    expect(await after(1)).toBe(anew);
    publisher.publish({ type: 'connection.ready', server: 'a', generation: 1, toolCount: 0 });
    expect(await after(1)).toBe("'a' has changed its list of tools");
    expect(await after(2)).toBe(anew);
  });

  it('is remembered among the last thousand, by the latest time.', () => {
    const { removed, clock } = begin();
    const numbered = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...X, name: `t${from + index}` }));
    removed.note(numbered(0, 1_000));
    removed.note(numbered(0, 1));
    removed.note(numbered(1_000, 2));
    expect([0, 1, 2, 3, 1_001].map((index) => removed.get(`t${index}`) !== undefined)).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
    removed.note(numbered(5_000, 10_000));
    expect(removed.get('t0')).toBeUndefined();
    expect(removed.get('t13999')).toBeUndefined();
    expect(removed.get('t14000')).toMatchObject({ at: clock.now() });
  });
});

describe('the error of an unknown tool', () => {
  it('has the time and the reason of the removal, if it is known.', () => {
    const at = Date.UTC(2026, 0, 2, 3, 4, 5);
    const gone = { server: 'a', at, why: "'a' was removed", isWithdrawn: false };
    const error = unknownTool('mcp__a__x', [], gone);
    expect(error).toMatchObject({ code: 'UNKNOWN_TOOL', tool: 'mcp__a__x', server: 'a', removedAt: at });
    expect(error.message).toContain(`2026-01-02T03:04:05.000Z: ${gone.why}`);
    expect(goneTool('mcp__a__x', gone)).toEqual(error);
  });

  it.each([
    ['echo', "Did you mean 'mcp__a__echo'?", "the server's own name for it"],
    ['mcp__a__ecko', "Did you mean 'mcp__a__echo'?", 'a misspelt name'],
  ])('for %s continues with %s, since it is %s.', (name, hint) => {
    const { message } = unknownTool(name, [], undefined, [offered('a'), offered('b')]);
    expect(message).toContain(hint);
  });

  it('names the servers that may still offer it, if none does.', () => {
    const error = unknownTool('x', [
      makeStatus({ server: 'b' }, { starting: { launching: 'opening' } }),
      makeStatus({ server: 'c' }),
    ]);
    expect(error).toMatchObject({ tool: 'x', server: undefined, removedAt: undefined });
    expect(error.message).toBe(
      "No server offers a tool called 'x'. Not every server is ready: b is connecting.",
    );
  });
});
