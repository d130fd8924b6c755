/**
 * Logs of somebody with bad intentions: whatever they say, every output is what it should be, holds no code of the log, and
 * nothing is thrown but an error for the user.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseSync } from 'oxc-parser';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { replay } from '../../../src/cli/recordings/replay-command.js';
import { DEFAULT_FLAGS } from '../../../src/cli/arguments/flags.js';
import { UsageError } from '../../../src/cli/exit.js';
import { nameProblems } from '../../../src/config/entry/server-name.js';
import { LogParser } from '../../../src/event-log/format/read-log.js';
import { openBytes } from '../../../src/event-log/replay/open-log.js';
import { createRecordedServer } from '../../../src/testing/recorded-server.js';
import { LogDesk } from '../../../visualizer/src/log/log-desk.js';
import { ownCharts } from '../../../visualizer/src/log/own-charts.js';
import { json } from '../../support/arbitraries.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { makeTerminal } from '../../support/fake-terminal.js';
import { fuzz } from '../../support/fuzz.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();
useCrashWatch();

const LOGS = ['flaps-forever', 'dies-in-a-call', 'exit-at-once', 'http-plain'].map((name) =>
  readFileSync(new URL(`./corpus/${name}.jsonl`, import.meta.url), 'utf8'),
);

/** Each ends something that it could be written into: a line, a string, a comment, an element, a section, a template. */
const CODE = [
  'x\u2028process.exit(13);//',
  'x\u2029process.exit(13);//',
  'x\nprocess.exit(13);//',
  'x\r\nprocess.exit(13);//',
  `'+process.exit(13)+'`,
  '"+process.exit(13)+"',
  '`+process.exit(13)+`',
  '${process.exit(13)}',
  '*/process.exit(13)/*',
  '</title><script>alert(1)</script>',
  '"/><script>alert(1)</script>',
  "' onload='alert(1)",
  ']]><script>alert(1)</script>',
  '--><script>alert(1)</script><!--',
  '&lt;&#x3c;',
  '\u001b]0;owned\u0007\u009b2J\u202ey',
  '\ufffe\uffff\u0000\ud800',
  '../../../../tmp/escaped',
  '__proto__',
  'constructor',
  '-rf',
];

const hostileText = fc.oneof(
  fc.constantFrom(...CODE),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc
    .tuple(fc.constantFrom(...CODE), fc.string({ unit: 'binary', maxLength: 4 }))
    .map((both) => both.join('')),
);
const hostileValue = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      { toString: 1, valueOf: 1 },
      { toJSON: 1, constructor: null },
      { code: 'internal', message: { toString: 1 }, at: {} },
      { code: 'process-exited', message: 'x', phase: 'session', at: 1, exit: [], http: 5, stderrTail: {} },
      [{ toString: 1 }],
      1e300,
      -1,
      Number.MAX_SAFE_INTEGER,
      null,
      true,
      {},
      [],
    ),
  },
  { weight: 1, arbitrary: json },
);

/** Replaces the name of a server everywhere, also in addresses. */
function renamed(log: string, name: string): string {
  const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
  const inAddress = inJson(name.toWellFormed().replace(/[%/#]/g, encodeURIComponent));
  return log
    .replaceAll(/"\$\/files(?=[#/])/g, () => `"$/${inAddress}`)
    .replaceAll(/"files"/g, () => `"${inJson(name)}"`);
}

interface Change {
  readonly line: number;
  /** Chooses a field at each level. */
  readonly path: readonly number[];
  readonly value: unknown;
}
const change: fc.Arbitrary<Change> = fc.record({
  line: fc.nat(),
  path: fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }),
  value: hostileValue,
});

/** Fields without which a line is no line of a log. */
const NEEDED: ReadonlySet<string> = new Set(['troupeLog', 'seq', 'kind', 'firstSeq', 'left', 'check']);

function changed(log: string, changes: readonly Change[]): string {
  const lines = log.trimEnd().split('\n');
  for (const { line, path, value } of changes) {
    const at = line % lines.length;
    const whole = JSON.parse(lines[at] ?? '{}') as Record<string, unknown>;
    let below = whole;
    for (const [level, step] of path.entries()) {
      const names = Object.keys(below).filter((name) => level > 0 || !NEEDED.has(name));
      const name = names[step % names.length];
      if (name === undefined) break;
      const inner = below[name];
      if (level < path.length - 1 && typeof inner === 'object' && inner !== null)
        below = inner as Record<string, unknown>;
      else {
        below[name] = value;
        break;
      }
    }
    lines[at] = JSON.stringify(whole);
  }
  return `${lines.join('\n')}\n`;
}

/** A log as it could come from anybody, and the name of its server. */
const hostileLog = fc.record({
  log: fc.constantFrom(...LOGS.keys()),
  name: fc.oneof(hostileText, fc.constant('files')).map((name) => name.toWellFormed()),
  changes: fc.array(change, { maxLength: 4 }),
});

function textOf({ log, name, changes }: typeof hostileLog extends fc.Arbitrary<infer T> ? T : never): string {
  return changed(renamed(LOGS[log] ?? '', name), changes);
}

/** The program without its positions and the values of its literals, and its comments. */
function skeleton(code: string): unknown {
  const { program, comments, errors } = parseSync('fixture.mjs', code);
  expect(errors).toEqual([]);
  const shape = JSON.parse(
    JSON.stringify(program, (name, value: unknown) => {
      if (name === 'start' || name === 'end') return undefined;
      const { type, value: content } = (value ?? {}) as { type?: unknown; value?: unknown };
      return type === 'Literal' ? { type, of: typeof content } : value;
    }),
    // The recorded states are a list of any length.
    (_, value: unknown) => (Array.isArray(value) && value.every(isTextLiteral) ? ['texts'] : value),
  );
  return { shape, comments: comments.map(({ value }) => value) };
}

const isTextLiteral = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'of' in value && value.of === 'string';

const ELEMENTS = new Set(['svg', 'title', 'style', 'rect', 'text', 'path', 'g', 'line']);
const TAG = /^<(\/?)([a-z]+)((?: [\w-]+="[^"<&]*")*)(\/?)>/;
const TEXT = /^(?:[^<&]|&(?:amp|lt|gt|quot);)+/u;
/** Characters that XML 1.0 does not allow (section 2.2). */
const NOT_XML = /(?![\n\r\t])\p{Cc}|[\ufffe\uffff]|\p{Surrogate}/u;

/** Whether a text is well-formed XML that consists of the elements of a picture, without handlers and references. */
function isPicture(text: string): boolean {
  if (NOT_XML.test(text)) return false;
  const open: string[] = [];
  let rest = text.trimEnd();
  while (rest !== '') {
    const [tag, slash, name = '', attributes = '', selfClosed] = TAG.exec(rest) ?? [];
    if (tag === undefined) {
      const [content] = TEXT.exec(rest) ?? [];
      if (content === undefined || open.length === 0) return false;
      rest = rest.slice(content.length);
      continue;
    }
    if (!ELEMENTS.has(name) || / (?:on|href|src)/.test(attributes)) return false;
    if (slash === '/' ? open.pop() !== name : false) return false;
    if (slash === '' && selfClosed === '') open.push(name);
    rest = rest.slice(tag.length);
  }
  return open.length === 0;
}

const CONTROLS = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

describe('a hostile log', () => {
  let folder: string;
  // A recorded server loads these when it is made, and the last test may be over by then.
  beforeAll(async () => {
    await import('../../../src/protocol/session-client.js');
    await import('../../../src/schemas/json-schema.js');
    await import('../../../src/servers/load-config.js');
    await import('../../../src/transports/in-process.js');
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-hostile-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs the command with every output. What is refused is refused with a `UsageError`. */
  async function outputs(text: string, flags: { readonly json?: boolean; readonly timeline?: boolean } = {}) {
    const place = mkdtempSync(join(folder, 'run-'));
    const log = join(place, 'log.jsonl');
    writeFileSync(log, text);
    const { terminal, stdout, stderr } = makeTerminal();
    const [svg, exportFixture] = [join(place, 'times.svg'), join(place, 'fixture')];
    let refused = '';
    try {
      await replay({ ...DEFAULT_FLAGS, ...flags, svg, exportFixture }, terminal, [log]);
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      refused = (error as UsageError).message;
    }
    const files = readdirSync(place);
    const fixture = files.includes('fixture') ? readdirSync(exportFixture) : [];
    const found = {
      stdout: stdout.written,
      stderr: stderr.written,
      refused,
      files,
      svg: files.includes('times.svg') ? readFileSync(svg, 'utf8') : undefined,
      fixture: fixture.map((file) => ({ file, text: readFileSync(join(exportFixture, file), 'utf8') })),
    };
    rmSync(place, { recursive: true });
    return found;
  }

  it('is exported without code for every name that ends a line, a string, a comment or an element.', async () => {
    const written = async (log: string): Promise<string> =>
      (await outputs(log)).fixture.find(({ file }) => file.endsWith('.mjs'))?.text ?? '';
    const expected = skeleton(await written(LOGS[0] ?? ''));
    for (const name of CODE) expect(skeleton(await written(renamed(LOGS[0] ?? '', name)))).toEqual(expected);
  });

  it('gives a test without code of the log, a log that can be read, and a picture.', async () => {
    const usual = (await outputs(LOGS[0] ?? '')).fixture.find(({ file }) => file.endsWith('.mjs'));
    const expected = skeleton(usual?.text ?? '');
    let exported = 0;
    await fuzz(
      70,
      fc.asyncProperty(hostileLog, async (given) => {
        const text = textOf(given);
        const { fixture, svg, files } = await outputs(text);
        expect(files.filter((file) => !['log.jsonl', 'times.svg', 'fixture'].includes(file))).toEqual([]);
        if (svg !== undefined) expect(isPicture(svg)).toBe(true);
        for (const { file, text: written } of fixture) {
          if (file.endsWith('.mjs')) {
            expect(skeleton(written)).toEqual(expected);
            const [, server = ''] = /^const SERVER = (".*");$/m.exec(written) ?? [];
            expect(nameProblems(JSON.parse(server) as string)).toEqual([]);
          } else {
            const parser = new LogParser();
            const pieces = [...parser.push(Buffer.from(written)), ...parser.end()];
            expect(pieces.filter(({ type }) => type === 'problem')).toEqual([]);
          }
        }
        exported += fixture.length;
      }),
    );
    expect(exported).toBeGreaterThan(5);
  });

  it('gives tables without a character that controls a terminal, and JSON that can be parsed.', () =>
    fuzz(
      70,
      fc.asyncProperty(hostileLog, fc.boolean(), async (given, isJson) => {
        const { stdout, stderr, svg } = await outputs(textOf(given), { json: isJson, timeline: true });
        expect(stdout).not.toMatch(CONTROLS);
        expect(stderr).not.toMatch(CONTROLS);
        if (isJson) expect(JSON.parse(stdout)).toMatchObject({ divergences: expect.any(Array) });
        if (svg !== undefined) expect(isPicture(svg)).toBe(true);
      }),
    ));

  it('can be opened on the page and shared, and its text never becomes markup.', async () => {
    const charts = ownCharts();
    await fuzz(
      300,
      fc.asyncProperty(hostileLog, async (given) => {
        const desk = new LogDesk(charts, async () => {});
        desk.append(new TextEncoder().encode(textOf(given)));
        desk.end();
        const { length, names } = desk.summary();
        for (const position of [0, Math.floor(length / 2), length - 1]) {
          const { rows } = await desk.answer('moment', { position });
          for (const row of rows) {
            const { name, state, substate, transport, tools, attempt, maxAttempts, error } = row;
            expect([name, state, substate, transport].every((each) => typeof each === 'string')).toBe(true);
            expect([tools, attempt, maxAttempts].every(Number.isFinite)).toBe(true);
            if (error !== null)
              expect([typeof error.code, typeof error.message]).toEqual(['string', 'string']);
          }
          for (const name of ['', ...names]) await desk.answer('actor', { name, position });
          await desk.answer('entry', { position });
        }
        await desk.answer('lines', { positions: Array.from({ length }, (_, index) => index) });
        await desk.answer('arrows', {
          names: undefined,
          mostLanes: 9,
          upTo: length - 1,
          most: 1_000,
          hasWire: true,
        });
        await desk.answer('overview', { columns: 10 });
        const template = '<script type="application/x-ndjson" id="log">TROUPE-LOG</script>';
        const shared = await (await desk.answer('share', { template })).text();
        expect(shared.split('<')).toHaveLength(3);
      }),
    );
  });

  it('throws nothing in the functions that read logs but the error that they document.', () =>
    fuzz(
      500,
      fc.property(hostileLog, (given) => {
        const text = textOf(given);
        const log = openBytes(Buffer.from(text));
        for (const at of [log.first, log.last]) log.at(at);
        for (const { server } of log.changes()) expect(server).toBeTypeOf('string');
        try {
          const { states, config } = createRecordedServer(text, given.name);
          expect(config.type).toBe('in-process');
          expect(states.every((state) => /^[a-z]+(?:Down)?$/.test(state))).toBe(true);
        } catch (error) {
          expect((error as Error).message).toMatch(/^(?:Line \d+|The log has no connection)/);
        }
      }),
    ));
});
