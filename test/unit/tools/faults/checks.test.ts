/** Every check of the format, with a result that satisfies it and one that does not. */
import { describe, expect, it } from 'vitest';
import {
  CALL_CHECK_NAMES,
  CALL_CHECKS,
  CHECK_NAMES,
  CHECKS,
  checkAll,
  STEP_NAMES,
  STEPS,
  type Seen,
} from '../../../support/tools/faults.js';

interface Example {
  readonly check: object;
  readonly right: Seen;
  readonly wrong: readonly Seen[];
}

const server = (state: string, more: object = {}) => ({
  state,
  error: null,
  pid: null,
  firstPid: null,
  running: [],
  sessions: 0,
  timeline: [],
  ...more,
});
const named = (name: string) => ({ servers: { [name]: server('ready') } });
const one = (state: string, more?: object) => ({ servers: { kit: server(state, more) } });
const spawns = (...times: number[]) => ({ journal: times.map((t) => ({ t, pid: 1, ev: 'spawn' })) });
const outlived = (...aliveMs: number[]) => ({ ends: aliveMs.map((ms) => ({ pid: 1, aliveMs: ms })) });
const get = (t: number) => ({ ...request('GET', '/mcp', 200, null, null), t });
const pings = (count: number) => ({
  journal: Array.from({ length: count }, () => ({ t: 1, ev: 'recv', method: 'ping' })),
  requests: null,
});
const request = (method: string, path: string, status: number, rpc: string | null, auth: string | null) => ({
  ...{ t: 1, method, path, status, rpc, auth, tool: null },
});

const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  state: [
    { check: { state: 'ready' }, right: one('ready'), wrong: [one('failed'), { servers: {} }] },
    { check: { state: ['failed', 'auth-required'] }, right: one('auth-required'), wrong: [one('starting')] },
  ],
  stateNot: [{ check: { stateNot: 'ready' }, right: one('failed'), wrong: [one('ready')] }],
  servers: [
    {
      check: { servers: { hall: 'ready', attic: 'disabled' } },
      right: { servers: { hall: server('ready'), attic: server('disabled'), yard: server('failed') } },
      wrong: [{ servers: { hall: server('ready') } }, one('ready')],
    },
    {
      check: { servers: { hall: ['failed', 'ready'] } },
      right: { servers: { hall: server('failed') } },
      wrong: [{ servers: { hall: server('disabled') } }],
    },
    { check: { servers: { constructor: 'ready' } }, right: named('constructor'), wrong: [one('ready')] },
  ],
  readyCount: [
    { check: { readyCount: 1 }, right: one('ready'), wrong: [one('failed')] },
    { check: { readyCount: { min: 1 } }, right: one('ready'), wrong: [one('failed')] },
  ],
  selfHeals: [
    {
      check: { selfHeals: true },
      right: one('ready', { sessions: 2 }),
      wrong: [one('ready', { sessions: 1 }), { servers: {} }],
    },
    {
      check: { selfHeals: false },
      right: one('failed', { sessions: 1 }),
      wrong: [one('failed', { sessions: 2 })],
    },
  ],
  readyWithinMs: [
    {
      check: { readyWithinMs: 100 },
      right: one('failed', { timeline: [{ state: 'ready', ms: 100 }] }),
      wrong: [
        one('ready', { timeline: [{ state: 'ready', ms: 101 }] }),
        one('failed', { timeline: [{ state: 'failed', ms: 1 }] }),
        { servers: {} },
      ],
    },
    {
      check: { readyWithinMs: 100, servers: { hall: 'ready' } },
      right: {
        servers: {
          stuck: server('starting'),
          hall: server('ready', { timeline: [{ state: 'ready', ms: 1 }] }),
        },
      },
      wrong: [{ servers: { hall: server('ready') } }],
    },
    {
      check: { readyWithinMs: 100, readyCount: 1 },
      right: {
        servers: {
          stuck: server('starting'),
          hall: server('ready', { timeline: [{ state: 'ready', ms: 1 }] }),
        },
      },
      wrong: [one('ready', { timeline: [{ state: 'ready', ms: 101 }] })],
    },
  ],
  failedWithinMs: [
    {
      check: { failedWithinMs: 100, servers: { bad: 'failed', hall: 'ready' } },
      right: {
        servers: {
          hall: server('ready'),
          bad: server('failed', { timeline: [{ state: 'failed', ms: 1 }] }),
        },
      },
      wrong: [{ servers: { hall: server('ready'), bad: server('failed') } }],
    },
    {
      check: { failedWithinMs: 100 },
      right: one('failed', { timeline: [{ state: 'failed', ms: 9 }] }),
      wrong: [one('failed', { timeline: [{ state: 'failed', ms: 101 }] })],
    },
  ],
  stopWithinMs: [
    { check: { stopWithinMs: 10 }, right: { stopMs: 10 }, wrong: [{ stopMs: 11 }, { stopMs: null }] },
  ],
  tools: [
    {
      check: { tools: ['a', 'b'] },
      right: { list: { tools: ['b', 'a'] } },
      wrong: [{ list: { tools: ['a', 'b', 'b'] } }, { list: { error: 'no' } }, {}],
    },
    { check: { tools: [] }, right: { list: { tools: [] } }, wrong: [{ list: { tools: ['a'] } }, {}] },
  ],
  toolsInclude: [
    {
      check: { toolsInclude: ['a'] },
      right: { list: { tools: ['a', 'b'] } },
      wrong: [{ list: { tools: ['b'] } }],
    },
  ],
  toolsExclude: [
    {
      check: { toolsExclude: ['a'] },
      right: { list: { tools: ['b'] } },
      wrong: [{ list: { tools: ['a'] } }, {}],
    },
  ],
  registry: [
    { check: { registry: ['a'] }, right: { registry: ['a'] }, wrong: [{ registry: ['a', 'b'] }, {}] },
    { check: { registry: [] }, right: { registry: [] }, wrong: [{ registry: ['a'] }, {}] },
  ],
  registryInclude: [
    { check: { registryInclude: ['a'] }, right: { registry: ['a', 'b'] }, wrong: [{ registry: [] }, {}] },
  ],
  exposedNames: [
    {
      check: { exposedNames: '^a+$' },
      right: { exposed: [[], ['a', 'aa']] },
      wrong: [{ exposed: [['a', 'b']] }, { exposed: [[]] }],
    },
  ],
  uniqueExposedNames: [
    { check: { uniqueExposedNames: false }, right: { exposed: [['a', 'a']] }, wrong: [{ exposed: [] }] },
    {
      check: { uniqueExposedNames: true },
      right: { exposed: [['a', 'b'], ['a']] },
      wrong: [{ exposed: [['a', 'a']] }, { exposed: [] }],
    },
  ],
  calls: [
    {
      check: {
        calls: { echo: { text: 'hi', textLength: 2, textMatches: ['^h', 'i$'], settlesWithinMs: 5 } },
      },
      right: { calls: { echo: { text: 'hi', ms: 5 } } },
      wrong: [
        { calls: { echo: { text: 'ho', ms: 5 } } },
        { calls: { echo: { text: 'hi', ms: 6 } } },
        { calls: { echo: { error: 'hi', ms: 5 } } },
        { calls: { echo: { unsettled: true, ms: 5 } } },
        { calls: {} },
      ],
    },
    {
      check: { calls: { echo: { textLength: { min: 2 }, textMatches: 'h', error: false } } },
      right: { calls: { echo: { text: 'hi', ms: 5 } } },
      wrong: [
        { calls: { echo: { text: 'h', ms: 5 } } },
        { calls: { echo: { text: 'ho ho', error: 'ho ho', ms: 5 } } },
      ],
    },
    {
      check: { calls: { toString: {} } },
      right: { calls: { toString: { text: '', ms: 1 } } },
      wrong: [{ calls: {} }, { calls: { toString: { unsettled: true, ms: 1 } } }],
    },
    {
      check: { calls: { bad: { error: true, names: ['401|nope'] } } },
      right: { calls: { bad: { error: 'HTTP 401', ms: 1 } } },
      wrong: [{ calls: { bad: { error: 'HTTP 403', ms: 1 } } }, { calls: { bad: { text: '401', ms: 1 } } }],
    },
    {
      check: {
        calls: { big: { anyOf: [{ textLength: 3 }, { error: true, names: ['size'] }], settlesWithinMs: 9 } },
      },
      right: { calls: { big: { error: 'above the size limit', ms: 9 } } },
      // Allowed by the set, but not by the check beside it.
      wrong: [{ calls: { big: { text: 'four', ms: 1 } } }, { calls: { big: { text: 'abc', ms: 10 } } }],
    },
  ],
  pingHealthy: [
    {
      check: { pingHealthy: true },
      right: { ...pings(1), pings: { doubts: [], probes: 1 } },
      wrong: [
        { ...pings(0), pings: { doubts: [], probes: 1 } },
        { ...pings(1), pings: { doubts: [], probes: 0 } },
        { ...pings(1), pings: { doubts: ['it was reconnecting'], probes: 1 } },
        pings(1),
      ],
    },
    {
      check: { pingHealthy: false },
      right: { ...pings(1), pings: { doubts: ['it was reconnecting'], probes: 1 } },
      wrong: [{ ...pings(1), pings: { doubts: [], probes: 1 } }, pings(1)],
    },
    {
      check: { pingHealthy: true },
      right: { journal: null, requests: null, pings: { doubts: [], probes: 1 } },
      wrong: [{ journal: null, requests: [], pings: { doubts: [], probes: 1 } }],
    },
  ],
  errorNames: [
    {
      check: { errorNames: ['exit code 3', 'REGION'] },
      right: { ...one('failed', { error: 'it ended: Exit code 3 | region is not set' }), configErrors: {} },
      wrong: [
        { ...one('failed', { error: 'exit code 3' }), configErrors: {} },
        { servers: {}, configErrors: {} },
      ],
    },
    {
      check: { errorNames: ['kit.*args.*list', 'a\\.json:\\d+'] },
      right: {
        ...one('failed', { error: "field 'args'" }),
        configErrors: { kit: ['expected a list'], '': ['a.json:3:1: it ends too early'] },
      },
      wrong: [
        { ...one('failed', { error: "field 'args'" }), configErrors: { kit: ['expected a list'] } },
        // The two lines are about different servers.
        {
          ...one('failed', { error: "field 'args'" }),
          configErrors: { other: ['expected a list'], '': ['a.json:3:1'] },
        },
      ],
    },
    {
      check: { errorNames: 'kit' },
      right: { ...one('failed', { error: 'no' }), configErrors: {} },
      wrong: [{ ...one('ready'), configErrors: {} }],
    },
  ],
  diagnosticsName: [
    {
      check: { diagnosticsName: ['lamp_wish'] },
      right: { diagnostics: ['a', 'lamp_wish was left out'] },
      wrong: [{ diagnostics: ['a'] }, { diagnostics: [] }],
    },
  ],
  diagnosticsMax: [
    { check: { diagnosticsMax: 0 }, right: { diagnostics: [] }, wrong: [{ diagnostics: ['a'] }] },
  ],
  noEscapes: [
    {
      check: { noEscapes: true },
      right: { texts: ['\\u001b[2J'], printed: '' },
      wrong: [
        { texts: ['\u001b[2J'], printed: '' },
        { texts: [], printed: '\u009b2J' },
      ],
    },
  ],
  secretsHidden: [
    {
      check: { secretsHidden: ['tok-1'] },
      right: { texts: ['tok-2'], printed: '' },
      wrong: [
        { texts: ['Bearer tok-1'], printed: '' },
        { texts: [], printed: 'tok-1' },
      ],
    },
  ],
  tokensForgotten: [
    {
      check: { tokensForgotten: true },
      right: { areTokensKept: false },
      wrong: [{ areTokensKept: true }, {}],
    },
    {
      check: { tokensForgotten: false },
      right: { areTokensKept: true },
      wrong: [{ areTokensKept: false }, {}],
    },
  ],
  journal: [
    { check: { journal: { spawn: 2 } }, right: spawns(1, 2), wrong: [spawns(1), spawns(1, 2, 3)] },
    { check: { journal: { spawn: { max: 0 } } }, right: spawns(), wrong: [spawns(1), { journal: null }] },
    {
      check: { journal: { 'recv:tools/call:a:b': 1, 'signal:SIGTERM': 1, 'recv:tools/list': 0 } },
      right: {
        journal: [
          { t: 1, ev: 'recv', method: 'tools/call', tool: 'a:b' },
          { t: 2, ev: 'signal', s: 'SIGTERM' },
        ],
      },
      wrong: [
        {
          journal: [
            { t: 1, ev: 'recv', method: 'tools/call', tool: 'a' },
            { t: 2, ev: 'signal', s: 'SIGTERM' },
          ],
        },
        {
          journal: [
            { t: 1, ev: 'recv', method: 'tools/call', tool: 'a:b' },
            { t: 2, ev: 'signal', s: 'SIGINT' },
          ],
        },
      ],
    },
    {
      check: { journal: { spawn: { min: 2, max: 3 } } },
      right: spawns(1, 2),
      wrong: [spawns(1), spawns(1, 2, 3, 4), { journal: null }],
    },
    {
      check: { journal: { 'recv:tools/call:lamp': { max: 1 }, 'recv:tools/call': { min: 2 } } },
      right: { journal: ['lamp', 'echo'].map((tool) => ({ t: 1, ev: 'recv', method: 'tools/call', tool })) },
      wrong: [
        { journal: ['lamp', 'lamp'].map((tool) => ({ t: 1, ev: 'recv', method: 'tools/call', tool })) },
      ],
    },
  ],
  requests: [
    {
      check: {
        requests: {
          initialize: { min: 1, max: 1 },
          'GET /mcp': { max: 1 },
          'status 401': { max: 1 },
          'auth is Bearer t-1': { min: 1 },
          'auth missing on /mcp/': { max: 0 },
        },
      },
      right: {
        requests: [
          request('POST', '/mcp', 200, 'initialize', 'Bearer t-1'),
          request('GET', '/mcp', 401, null, null),
          request('POST', '/mcp/', 200, 'ping', 'Bearer t-1'),
        ],
      },
      wrong: [
        { requests: [] },
        { requests: null },
        { requests: [request('POST', '/mcp/', 200, 'initialize', null)] },
        { requests: ['a', 'b'].map(() => request('GET', '/mcp', 401, 'initialize', 'Bearer t-1')) },
      ],
    },
    {
      check: {
        requests: {
          'status 4xx': 1,
          'x-harbour is north': 1,
          'session missing on /mcp': 0,
          'tools/call:echo': 1,
        },
      },
      right: {
        requests: [
          { ...request('POST', '/mcp', 404, 'tools/call', null), ...{ tool: 'echo', session: 's' } },
          { ...request('GET', '/', 200, null, null), headers: { 'x-harbour': 'north' } },
        ],
      },
      wrong: [
        {
          requests: [
            { ...request('POST', '/mcp', 200, 'tools/call', null), ...{ tool: 'echo', session: null } },
            { ...request('GET', '/', 500, null, null), headers: { 'x-harbour': 'south' } },
          ],
        },
      ],
    },
    { check: { requests: { '?? ?': { max: 1 } } }, right: { requests: [] }, wrong: [{ requests: [] }] },
  ],
  growingGaps: [
    {
      check: { growingGaps: 'spawn' },
      right: { ...spawns(0, 10, 30, 60, 100), endedAt: 100 },
      wrong: [
        { ...spawns(0, 40, 70, 90, 100), endedAt: 100 },
        { ...spawns(0, 10, 20, 30), endedAt: 31 },
        { ...spawns(0), endedAt: 100 },
        { journal: null, requests: null, endedAt: 1 },
      ],
    },
    {
      check: { growingGaps: ['GET /mcp'] },
      right: { ...spawns(0), requests: [0, 10, 30].map(get), endedAt: 90 },
      wrong: [{ ...spawns(0), requests: [0, 30, 40].map(get), endedAt: 41 }],
    },
    {
      check: { growingGaps: 'spawn' },
      right: { ...spawns(0, 10, 20), endedAt: 900 },
      wrong: [{ ...spawns(0, 10, 20), endedAt: 20 }],
    },
  ],
  noOrphans: [
    {
      check: { noOrphans: true },
      right: outlived(-1, 999),
      wrong: [outlived(-1, 1_000), outlived(8_000)],
    },
    {
      check: { noOrphans: true, orphansGoneWithinMs: 5_000 },
      right: outlived(4_999),
      wrong: [outlived(5_000)],
    },
  ],
  orphansGoneWithinMs: [
    { check: { orphansGoneWithinMs: 8_000 }, right: outlived(7_999), wrong: [outlived(8_000)] },
  ],
  samePid: [
    {
      check: { samePid: ['kit'] },
      right: one('ready', { pid: 7, firstPid: 7 }),
      wrong: [one('ready', { pid: 8, firstPid: 7 }), one('ready'), { servers: {} }],
    },
  ],
  gone: [
    {
      check: { gone: ['kit'] },
      right: one('absent', { timeline: [{ state: 'ready', ms: 1 }] }),
      wrong: [
        one('ready', { timeline: [{ state: 'ready', ms: 1 }] }),
        one('absent', { timeline: [{ state: 'ready', ms: 1 }], running: [7] }),
        one('absent'),
        { servers: {} },
      ],
    },
  ],
  rssGrowthMaxMb: [
    { check: { rssGrowthMaxMb: 60 }, right: { rssGrowthMb: 59 }, wrong: [{ rssGrowthMb: 61 }] },
  ],
  anyOf: [
    {
      check: { anyOf: [{ state: 'ready' }, { errorNames: ['mcpServers'] }] },
      right: { ...one('failed', { error: 'mcpServers was expected' }), configErrors: {} },
      wrong: [{ ...one('failed'), configErrors: {} }],
    },
    {
      check: { anyOf: [{ state: 'ready' }, { anyOf: [{ readyCount: 9 }, { stateNot: 'starting' }] }] },
      right: one('failed'),
      wrong: [one('starting')],
    },
  ],
};

/** A check with an invalid key fails for every result. */
const isUnanswerable = ({ check }: Example): boolean => JSON.stringify(check).includes('?? ?');

describe('the checks', () => {
  it('are those of the format, each with an example, as are the steps.', () => {
    expect(Object.keys(CHECKS).toSorted()).toEqual(CHECK_NAMES.toSorted());
    expect(Object.keys(EXAMPLES).toSorted()).toEqual(CHECK_NAMES.toSorted());
    expect([...Object.keys(CALL_CHECKS), 'anyOf'].toSorted()).toEqual(CALL_CHECK_NAMES.toSorted());
    expect(Object.keys(STEPS).toSorted()).toEqual(STEP_NAMES.toSorted());
  });

  it.each(Object.entries(EXAMPLES))(
    'find no difference in a right result, and one in each wrong result: %s.',
    (_, examples) => {
      for (const example of examples) {
        const { check, right, wrong } = example;
        expect(checkAll(check, right).length > 0).toBe(isUnanswerable(example));
        for (const seen of wrong) expect(checkAll(check, seen)).not.toEqual([]);
      }
    },
  );

  it('report the actual and the expected value.', () => {
    expect(checkAll({ state: 'ready' }, one('failed', { error: 'exit code 3' }))).toEqual([
      'state is failed (exit code 3), wanted ready',
    ]);
    expect(checkAll({ journal: { spawn: { max: 1 } } }, spawns(1, 2))).toEqual(['spawn: 2, wanted 0 to 1']);
  });
});
