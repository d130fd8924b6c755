import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classify, FAILURE_CODES } from '../../machines/policy/failure.js';
import { errorsPage, eventsPage, optionsPage } from './generators.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

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

describe('the page of options', () => {
  it('has a row for every option and the default of every number.', () => {
    const lines = optionsPage({ options, policy, gateway }, defaults).split('\n');
    expect(lines).toContain('| `servers?` | `Record<string, string \\| null>` | Names \\| more. |');
    expect(lines).toContain('| `attempts` | `number` | `5` | Tries. |');
    expect(lines).toContain('| `ping.idleMs` | `number` | `30` | Both. |');
    expect(lines).toContain('| `ping.timeoutMs` | `number` | `5` | Its own. |');
    expect(lines).toContain('| `port?` | `number` | Where. |');
    expect(lines).toContain('| `stop.drainMs` | `number` | `1` | Time to drain. |');
    expect(lines).toContain('| `again.afterMs` | `number` | `2` | One more. Then. |');
    expect(lines).toContain('| `again.everyMs` | `number` | `3` | One more. |');
  });

  it('is not written while an option has no comment.', () => {
    const silent = options.replace('/** Names | more. */', '');
    expect(() => optionsPage({ options: silent, policy, gateway }, defaults)).toThrow(
      'TroupeOptions.servers has no doc comment',
    );
    const mute = gateway.map((text) => text.replace('/** Where. */', ''));
    expect(() => optionsPage({ options, policy, gateway: mute }, defaults)).toThrow(
      'ServeOptions.port has no doc comment',
    );
    expect(() =>
      optionsPage({ options, policy: policy.replace('/** Tries. */', ''), gateway }, defaults),
    ).toThrow('ConnectionPolicy.attempts has no doc comment');
  });

  it('is not written while a setting and its default do not meet.', () => {
    const { stop, ...withoutStop } = defaults;
    expect(() => optionsPage({ options, policy, gateway }, withoutStop)).toThrow(
      'stop.drainMs has no default',
    );
    expect(() => optionsPage({ options, policy, gateway }, { ...defaults, extra: stop })).toThrow(
      'the default extra.drainMs has no setting',
    );
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
    expect(FAILURE_CODES.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
    expect(page).toContain('| `auth-required` | `authorize` |');
    expect(page).toContain('| `http-status` | `retry` for status 408, 425, 429, 500–599; else `permanent` |');
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
});
