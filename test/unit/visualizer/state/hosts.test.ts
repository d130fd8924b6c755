/** Which rows the page of a fleet shows, what it marks, and where a row leads. */
import { describe, expect, it } from 'vitest';
import type { InspectedHost, InspectedServer } from '../../../../src/inspector/page-protocol.js';
import { hostRows, pageOf } from '../../../../visualizer/src/state/hosts.js';
import { OTHER_CHARTS, OTHER_VERSION } from '../../../../visualizer/src/words/host-words.js';
import { SAID } from '../../../support/fleet-host.js';

const server = (name: string, more: Partial<InspectedServer> = {}): InspectedServer => ({
  server: name,
  state: 'ready',
  since: null,
  code: null,
  restarts: 0,
  ...more,
});

const host = (id: string, more: Partial<InspectedHost> = {}): InspectedHost => ({
  ...SAID,
  id,
  address: `http://${id}`,
  servers: [],
  ...more,
});

const shown = (hosts: readonly InspectedHost[], text = ''): string[] =>
  hostRows(hosts, text).map(({ key }) => key);
const odd = (hosts: readonly InspectedHost[]): unknown[] => hostRows(hosts, '').map((row) => row.odd);

describe('the rows of hosts', () => {
  const hosts = [
    host('b', {
      startedAt: 2,
      servers: [server('fs'), server('web', { state: 'failed', code: 'process-exited' })],
    }),
    host('a', { startedAt: 1, state: 'draining', servers: [server('fs')] }),
  ];

  it('are the hosts as they were started, each with its servers.', () => {
    expect(shown(hosts)).toEqual(['a', 'a fs', 'b', 'b fs', 'b web']);
  });

  it.each([
    ['code:process-exited', ['b', 'b web']],
    ['state:draining', ['a', 'a fs']],
    ['server:fs', ['a', 'a fs', 'b', 'b fs']],
    ['host:b', ['b', 'b fs', 'b web']],
    ['nothing', []],
  ])('that fit %s', (text, expected) => {
    expect(shown(hosts, text)).toEqual(expected);
  });

  it('mark what differs from most hosts; without a majority, every host; never one that is gone.', () => {
    expect(odd([host('a'), host('b'), host('c', { version: '2.0.0' })])).toEqual([[], [], [OTHER_VERSION]]);
    expect(odd([host('a'), host('b', { charts: 'x' })])).toEqual([[OTHER_CHARTS], [OTHER_CHARTS]]);
    expect(odd([host('a'), host('b', { charts: 'x', state: 'gone' })])).toEqual([[], []]);
  });

  it('lead to the page of their host, with the key if the address has it.', () => {
    const [whole, one] = hostRows([host('a', { servers: [server('f & s')] })], '');
    expect([whole, one].map((row) => row && pageOf(row, '#view=chart'))).toEqual([
      '?host=a',
      '?host=a#view=chart&connection=f%20%26%20s',
    ]);
    expect(whole && pageOf(whole, '#KEY&view=chart')).toBe('?host=a#KEY');
    const closed = [host('a', { state: 'gone' }), { ...host('b'), address: undefined } as never];
    expect(hostRows(closed, '').map((row) => pageOf(row, ''))).toEqual([undefined, undefined]);
  });

  it('are found quickly among thousands.', () => {
    const many = Array.from({ length: 500 }, (_, i) =>
      host(`h${i}`, { servers: Array.from({ length: 20 }, (__, k) => server(`s${k}`)) }),
    );
    const before = performance.now();
    expect(shown(many, 'server:s7')).toHaveLength(1_000);
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
