import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classify, FAILURE_CODES } from '../../../machines/policy/failure.js';
import type { EntryField } from '../../../src/config/entry/entry-fields.js';
import {
  DIAGNOSTIC_KINDS,
  errorsPage,
  eventsPage,
  optionsPage,
  publishedKinds,
  statusPage,
} from '../../support/tools/docs-generators.js';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

const policy = `
export interface ConnectionPolicy {
  /** Tries. */
  readonly attempts: number;
  /** Both. */
  readonly ping: { readonly idleMs: number; /** Its own. */ readonly timeoutMs: number };
  readonly stop: Stop;
  readonly again: Again;
}
export interface Stop {
  /** Time to drain. */
  readonly drainMs: number;
}
/** One more. */
export interface Again {
  /** Then. */
  readonly afterMs: number;
  readonly everyMs: number;
}`;
const options = `
export interface TroupeOptions {
  /** Names | more. */
  readonly servers?: Record<string, string | null>;
}`;
const gateway = [
  `
export interface ServeOptions {
  /** Where. */
  readonly port?: number;
}
interface Private { readonly inside: string }`,
];
const defaults = {
  attempts: 5,
  ping: { idleMs: 30, timeoutMs: 5 },
  stop: { drainMs: 1 },
  again: { afterMs: 2, everyMs: 3 },
};

const fields: Readonly<Record<string, EntryField>> = {
  waitMs: {
    schema: { type: 'number' },
    aliases: ['delay'],
    transports: ['stdio', 'http'],
    onReload: 'live',
    default: 5,
    meaning: 'How long.',
  },
  path: { schema: { type: 'string' }, transports: ['stdio'], onReload: 'restart', meaning: 'Where.' },
};

const policies = { local: defaults, remote: { attempts: 9 } };

describe('the page of options', () => {
  it('has a row for every option and the default of every number.', () => {
    const lines = optionsPage({ options, policy, gateway }, policies, fields).split('\n');
    expect(lines).toContain('| `servers?` | `Record<string, string \\| null>` | Names \\| more. |');
    expect(lines).toContain('| `attempts` | `number` | `5` | `9` | Tries. |');
    expect(lines).toContain('| `ping.idleMs` | `number` | `30` | | Both. |');
    expect(lines).toContain('| `ping.timeoutMs` | `number` | `5` | | Its own. |');
    expect(lines).toContain('| `port?` | `number` | Where. |');
    expect(lines).toContain('| `stop.drainMs` | `number` | `1` | | Time to drain. |');
    expect(lines).toContain('| `again.afterMs` | `number` | `2` | | One more. Then. |');
    expect(lines).toContain('| `again.everyMs` | `number` | `3` | | One more. |');
    expect(lines).toContain('| `waitMs` | `delay` | stdio, http | `5` | at once | How long. |');
    expect(lines).toContain('| `path` | | stdio | | new session | Where. |');
  });

  it('is not written while an option has no comment.', () => {
    const silent = options.replace('/** Names | more. */', '');
    expect(() => optionsPage({ options: silent, policy, gateway }, policies, fields)).toThrow(
      'TroupeOptions.servers',
    );
    const mute = gateway.map((text) => text.replace('/** Where. */', ''));
    expect(() => optionsPage({ options, policy, gateway: mute }, policies, fields)).toThrow(
      'ServeOptions.port',
    );
    expect(() =>
      optionsPage({ options, policy: policy.replace('/** Tries. */', ''), gateway }, policies, fields),
    ).toThrow('ConnectionPolicy.attempts');
  });

  it('is not written while settings and defaults do not match.', () => {
    const { stop, ...withoutStop } = defaults;
    expect(() =>
      optionsPage({ options, policy, gateway }, { ...policies, local: withoutStop }, fields),
    ).toThrow('stop.drainMs has no default');
    expect(() =>
      optionsPage({ options, policy, gateway }, { ...policies, local: { ...defaults, extra: stop } }, fields),
    ).toThrow('the default extra.drainMs has no setting');
  });
});

describe('the page of errors', () => {
  const page = errorsPage(
    { errors: read('src/errors.ts'), failure: read('machines/policy/failure.ts') },
    { codes: FAILURE_CODES, classify },
  );

  it('has every exported class with its code.', () => {
    const classes = [...read('src/errors.ts').matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
    expect(classes.length).toBeGreaterThan(10);
    expect(
      classes.filter((name) => !new RegExp(`^\\| \`${name}\` \\| \`[A-Z_]+\` \\| .+ \\|$`, 'm').test(page)),
    ).toEqual([]);
  });

  it('has every failure code with the verdict that the policy gives.', () => {
    const rowOf = (code: string) => page.split('\n').find((line) => line.startsWith(`| \`${code}\` |`)) ?? '';
    expect(FAILURE_CODES.filter((code) => !/^\| [^|]+ \| [^|]+\. \| [^|]+ \|$/.test(rowOf(code)))).toEqual(
      [],
    );
    expect(rowOf('auth-required')).toMatch(/\| `authorize` \|$/);
    expect(rowOf('http-status')).toMatch(
      /\| `retry` for status 408, 425, 429, 500–599; else `permanent` \|$/,
    );
  });

  it.each([
    ['  /** Exit code; null', '  /* Exit code; null', 'ProcessExit.code has no doc comment'],
    [
      '  /** The connection broke',
      '  /* The connection broke',
      'the code connection-lost has no doc comment',
    ],
  ])('is not written while a row has no meaning: %s.', (comment, other, problem) => {
    const failure = read('machines/policy/failure.ts').replace(comment, other);
    const sources = { errors: read('src/errors.ts'), failure };
    expect(() => errorsPage(sources, { codes: FAILURE_CODES, classify })).toThrow(problem);
  });

  it('has every code of a configuration problem with its meaning and its remedy.', () => {
    const codes = ['wrong-type', 'file-not-found', 'untrusted-entry'];
    for (const code of codes)
      expect(page).toMatch(new RegExp(`^\\| \`${code}\` \\| .+\\. \\| .+\\. \\|$`, 'm'));
  });

  it.each([
    ['no comment', "  | 'a';"],
    ['no remedy', "  /** It is wrong. */\n  | 'a';"],
    ['no meaning', "  /** Remedy: Correct it. */\n  | 'a';"],
  ])('is not written while a code of a configuration problem has %s.', (_, union) => {
    const errors = `/** Codes. */\nexport type ConfigProblemCode =\n${union}\n`;
    const failure = '/** Verdict. */\nexport type Verdict = 1;';
    expect(() => errorsPage({ errors, failure }, { codes: [], classify })).toThrow('the code a has');
  });

  it('is not written while a class has no comment.', () => {
    const errors = "export class SilentError extends TroupeError {\n  readonly code = 'SILENT';\n}";
    const failure = '/** Verdict. */\nexport type Verdict = 1;';
    expect(() => errorsPage({ errors, failure }, { codes: [], classify })).toThrow('SilentError');
  });
});

describe('the page of events', () => {
  it('has every lifecycle event with its fields.', () => {
    const source = read('src/lifecycle/event.ts');
    const page = eventsPage(source);
    const types = [...source.matchAll(/readonly type: '([^']+)'/g)].map(([, type]) => type);
    expect(types.length).toBeGreaterThan(15);
    expect(types.filter((type) => !page.includes(`\n## ${type}\n`))).toEqual([]);
    expect(page.slice(page.indexOf('## call.finished'))).toMatch(/^\| `outcome` \| `CallOutcome` \|/m);
  });

  it('is not written while an event or a field has no comment.', () => {
    const source = read('src/lifecycle/event.ts');
    const without = (comment: string) => () => eventsPage(source.replace(`/** ${comment}`, `/* ${comment}`));
    expect(without('Every connection has ended.')).toThrow('has no doc comment');
    expect(without('How it ended.')).toThrow('outcome');
  });

  it('explains every kind of diagnostic that the sources publish, and no other.', () => {
    const files = readdirSync(new URL('../../../src', import.meta.url), {
      recursive: true,
      encoding: 'utf8',
    });
    const kinds = files
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...publishedKinds(read(`src/${file}`))]);
    const known = read('src/diagnostic-kind.ts').match(/(?<=\| ')[a-z-]+(?=')/g);
    expect(Object.keys(DIAGNOSTIC_KINDS)).toEqual(known);
    expect([...new Set(kinds)].toSorted()).toEqual(known);
    expect(kinds.length).toBeGreaterThan(30);
  });

  it('finds a kind in an event, in a conditional, in a notice and in a call.', () => {
    const source = `
      publish({ type: 'diagnostic', kind: 'a-b', message });
      publish({ type: 'diagnostic', kind: isLate ? 'c-d' : 'e-f', message });
      return { kind: 'g-h', message: 'i-j' };
      this.#diagnose(server, 'k-l', 'Some words.');
      publish({ type: 'other', kind: 'm-n', message });`;
    expect([...publishedKinds(source)]).toEqual(['a-b', 'c-d', 'e-f', 'g-h', 'k-l']);
  });
});

describe('the page of the status', () => {
  const sources = {
    status: read('src/lifecycle/status.ts'),
    details: read('src/lifecycle/status-details.ts'),
    states: read('machines/connection/connection.states.ts'),
  };

  it('has every field, state and tag.', () => {
    const page = statusPage(sources);
    expect(page).toMatch(/^\| `state` \| `ConnectionState` \| .+ \|$/m);
    expect(page).toContain("'waitingForPerson'");
    expect(page).toContain("'shuttingDown'");
  });

  it('is not written while a field has no comment.', () => {
    const status = sources.status.replace('/** Process id;', '/* Process id;');
    expect(() => statusPage({ ...sources, status })).toThrow('ServerStatus.pid');
  });
});
