import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

interface Place {
  readonly root: string;
  readonly tsconfig: string;
}

type Pages = Readonly<Record<string, string>>;

const { apiPages } = (await import(
  new URL('../../../docs/generate/api/api-pages.mjs', import.meta.url).href
)) as { readonly apiPages: (manifest: object, place: Place) => Promise<Pages> };

const ENTRY = `/** The entry point. */\nexport * from './part.js';\n`;
const PART = `/** The header of this file. */

/** A lamp. */
export interface Lamp {
  /** Whether it shines. */
  readonly isOn: boolean;
  /** Its place. */
  readonly place: {
    /** Metres above the floor. */
    readonly height: number;
  };
  /** Switches it. */
  toggle(): void;
}
/** What happens to a lamp. */
export type LampEvent = { readonly type: 'on' } | { readonly type: 'off' };
/** Makes a lamp. */
export declare function createLamp(options: { readonly isOn: boolean }): Lamp;
`;

let root = '';

/** The compiler drops the blank line after a header. */
function pagesOf(part: string): Promise<Pages> {
  const files = {
    'src/index.ts': ENTRY,
    'src/part.ts': part,
    'dist/src/index.d.ts': ENTRY,
    'machines/index.ts': ENTRY,
    'dist/machines/index.d.ts': '/** The other entry point. */\nexport {};\n',
    'dist/src/part.d.ts': part.replace('*/\n\n', '*/\n'),
    'tsconfig.json': JSON.stringify({ compilerOptions: { types: [] }, include: ['dist'] }),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const exports = {
    '.': { types: './dist/src/index.d.ts' },
    './machines': { types: './dist/machines/index.d.ts' },
  };
  return apiPages({ name: 'lamps', exports }, { root, tsconfig: join(root, 'tsconfig.json') });
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'api-pages-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('the pages about the API', { timeout: 60_000 }, () => {
  it('have every declaration with its description.', async () => {
    const { 'index.md': page = '' } = await pagesOf(PART);
    expect(page).toMatch(/^\| .*`isOn` .*\| Whether it shines\. \|$/m);
    expect(page).toMatch(/^\| .*`place\.height` .*\| Metres above the floor\. \|$/m);
    expect(page).not.toContain('The header of this file.');
  });

  it('are not written while a declaration or a row has no comment of its own.', async () => {
    const [header = '', ...comments] = PART.match(/\/\*\*.*\*\//g) ?? [];
    const silent = comments.reduce((part, comment) => part.replace(comment, ''), PART);
    expect(silent).toContain(header);
    const problem = await pagesOf(silent).then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    const names = problem.match(/\S+(?= has no doc comment)/g) ?? [];
    expect(names.toSorted()).toEqual([
      'index.Lamp',
      'index.Lamp.isOn',
      'index.Lamp.place',
      'index.Lamp.place.__type.height',
      'index.Lamp.toggle',
      'index.LampEvent',
      'index.createLamp',
    ]);
  });
});
