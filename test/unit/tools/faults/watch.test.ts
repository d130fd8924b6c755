/** What counts as the final state of a server, and what is reported about it. */
import { describe, expect, it } from 'vitest';
import { Watch } from '../../../support/tools/faults.js';

const QUIET = { subscribe: () => ({ unsubscribe: () => {} }) };

const row = (state: string, more: object = {}) => ({
  ...{ server: 'kit', state, substate: '', tags: [], reason: null, error: null, pid: null, generation: 1 },
  ...{ connectedAt: state === 'ready' ? Date.now() : null, ...more },
});

const LOST = { code: 'process-exited', message: 'it ended', stderrTail: [] };

/** A troupe whose one server has these rows, each for that many milliseconds. */
function going(rows: readonly (readonly [ms: number, row: object])[]) {
  const startedAt = Date.now();
  return {
    events$: QUIET,
    status$: {
      subscribe: (listener: (rows: object[]) => void) => {
        for (const [, seen] of rows.slice(0, 2)) listener([seen]);
        return { unsubscribe: () => {} };
      },
    },
    get status() {
      let left = Date.now() - startedAt;
      const present = rows.find(([ms]) => (left -= ms) < 0) ?? rows.at(-1)!;
      return [present[1]];
    },
  };
}

async function stateAtTheEnd(rows: readonly (readonly [ms: number, row: object])[]) {
  const watch = new Watch();
  const troupe = going(rows);
  watch.follow(troupe);
  const startedAt = Date.now();
  await watch.takeStock(troupe);
  return { state: watch.servers.get('kit')?.state, ms: Date.now() - startedAt };
}

describe('the final state', () => {
  it('is the current one of a server that was never lost, without a delay.', async () => {
    const { state, ms } = await stateAtTheEnd([
      [0, row('launching')],
      [10_000, row('ready')],
    ]);
    expect(state).toBe('ready');
    expect(ms).toBeLessThan(900);
  });

  it('is failed if a server that was lost before is ready only for a moment.', async () => {
    const waiting = row('reconnecting', { error: LOST });
    const { state } = await stateAtTheEnd([
      [0, row('ready')],
      [0, waiting],
      [250, row('ready')],
      [10_000, waiting],
    ]);
    expect(state).toBe('failed');
  });

  it('is ready if a server that was lost before stays ready.', async () => {
    const { state, ms } = await stateAtTheEnd([
      [0, row('ready')],
      [0, row('reconnecting', { error: LOST })],
      [10_000, row('ready')],
    ]);
    expect(state).toBe('ready');
    expect(ms).toBeGreaterThan(900);
  });

  it('is not that of an attempt whose outcome is imminent.', async () => {
    const { state } = await stateAtTheEnd([
      [100, row('launching', { error: LOST })],
      [100, row('handshaking', { error: LOST })],
      [10_000, row('failed', { error: LOST })],
    ]);
    expect(state).toBe('failed');
  });

  it.each([
    ['pending-approval', row('configuring', { tags: ['awaitingTrust'] })],
    ['auth-required', row('configuring', { tags: ['authorizing'] })],
    ['disabled', row('stopped', { reason: 'disabled' })],
    ['stopped', row('stopped', { reason: 'stop' })],
    ['failed', row('failed', { error: LOST })],
    ['starting', row('launching')],
  ])('is named as in the kit: %s.', async (word, present) => {
    expect(await stateAtTheEnd([[10_000, present]])).toMatchObject({ state: word });
  });
});

describe('the output', () => {
  const about = (secrets: readonly string[], show: (watch: InstanceType<typeof Watch>) => void) => {
    const watch = new Watch({ secrets });
    show(watch);
    return [...watch.texts].join('\n');
  };

  it.each<[string, (watch: InstanceType<typeof Watch>) => void]>([
    ['a log', ({ logger }) => logger.debug('signed in with key-1')],
    ['the details of a log', ({ logger }) => logger.error('no', { deep: [{ at: 'key-1' }] })],
    ['the name of a field', ({ logger }) => logger.warn('no', { 'key-1': 7 })],
    ['an error', (watch) => watch.keepError(new Error('refused key-1'))],
    ['the cause of an error', (watch) => watch.keepError(new Error('no', { cause: new Error('key-1') }))],
    ['a field of an error', (watch) => watch.keepError(Object.assign(new Error('no'), { data: ['key-1'] }))],
    [
      'an event',
      (watch) =>
        watch.follow({
          events$: {
            subscribe: (listener: (event: object) => void) => listener({ type: 'x', text: 'key-1' }),
          },
          status$: QUIET,
        }),
    ],
    [
      'a row of the status',
      (watch) =>
        watch.follow({
          events$: QUIET,
          status$: {
            subscribe: (listener: (rows: object[]) => void) =>
              listener([row('ready', { stderrTail: ['key-1'] })]),
          },
        }),
    ],
  ])('is searched for secrets and escapes: %s.', (_, show) => {
    expect(about(['key-1'], show)).toContain('key-1');
    expect(about(['key-2'], show)).toBe('');
  });

  it('is kept if it contains an escape, whatever the secrets are.', () => {
    expect(about([], ({ logger }) => logger.debug('\u001b[2J'))).toBe('\u001b[2J');
  });
});
