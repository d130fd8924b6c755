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
  /**
   * Switches it.
   * @param times How often.
   * @example lamp.toggle(1);
   */
  toggle(times: number): void;
}
/** What happens to a lamp. */
export type LampEvent =
  /** It begins to shine. */
  | {
      readonly type: 'on';
      /** Lumens. */
      readonly brightness: number;
    }
  /** It goes dark. */
  | { readonly type: 'off' };
/** An error of a lamp. */
export declare class LampError extends Error {
  /** Names the error. */
  readonly code = 'BROKEN';
  /** @param lamp The lamp that broke. */
  constructor(lamp: Lamp);
}
/**
 * Makes a lamp.
 *
 * @typeParam T Kind of lamp.
 * @param options How to make it.
 * @param onEvent Called whenever it is switched.
 * @throws {@link LampError} if it breaks.
 * @example createLamp({ isOn: true }, console.log);
 */
export declare function createLamp<T extends Lamp>(
  options: {
    /** Whether it shines from the start. */
    readonly isOn: boolean;
  },
  onEvent: (event: LampEvent) => void,
): T;
/** A lamp that is always off. */
export declare class DarkLamp implements Lamp {
  readonly isOn: boolean;
  readonly place: Lamp['place'];
  toggle(times: number): void;
}
/**
 * Decides about a lamp.
 * @param lamp The lamp in question.
 */
export type LampRule = (lamp: Lamp) => boolean;
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
    '.': { import: { types: './dist/src/index.d.ts' } },
    './machines': { import: { types: './dist/machines/index.d.ts' } },
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
    expect(page).toMatch(/^\| .*`options` .*\| How to make it\. \|$/m);
    expect(page).toMatch(/^\| .*`options\.isOn` .*\| Whether it shines from the start\. \|$/m);
    expect(page).toMatch(/^\| .*`brightness` .*\| Lumens\. \|$/m);
    expect(page).not.toContain('The header of this file.');
  });

  it('name the code of an error that is thrown, and the discriminant of a union.', async () => {
    const { 'index.md': page = '' } = await pagesOf(PART);
    expect(page).toContain('[LampError](#lamperror) (`BROKEN`) if it breaks.');
    expect(page).toMatch(/^\| .*`type` .*"on".*\| Discriminant of the union\. \|$/m);
  });

  it('are not written while a declaration or a row has no comment of its own.', async () => {
    const [header = '', ...comments] = PART.match(/\/\*\*[^]*?\*\//g) ?? [];
    const silent = comments.reduce((part, comment) => part.replace(comment, ''), PART);
    expect(silent).toContain(header);
    const problem = await pagesOf(silent).then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    const lacking = (what: string): string[] =>
      [...problem.matchAll(new RegExp(`(\\S.*) has no ${what}$`, 'gm'))]
        .map(([, name = '']) => name)
        .toSorted();
    expect(lacking('doc comment')).toEqual([
      'index.DarkLamp',
      'index.DarkLamp.isOn',
      'index.DarkLamp.place',
      'index.DarkLamp.place.__type.height',
      'index.DarkLamp.toggle',
      'index.DarkLamp.toggle.times',
      'index.Lamp',
      'index.Lamp.isOn',
      'index.Lamp.place',
      'index.Lamp.place.__type.height',
      'index.Lamp.toggle',
      'index.Lamp.toggle.times',
      'index.LampError',
      'index.LampError.code',
      'index.LampError.constructor.lamp',
      'index.LampEvent',
      'index.LampEvent, variant 1,',
      'index.LampEvent, variant 2,',
      'index.LampEvent.__type.brightness',
      'index.LampRule',
      'index.LampRule.__type.lamp',
      'index.createLamp',
      'index.createLamp.T',
      'index.createLamp.onEvent',
      'index.createLamp.options',
      'index.createLamp.options.__type.isOn',
    ]);
    expect(lacking('example')).toEqual(['index.DarkLamp.toggle', 'index.createLamp']);
  });

  it('are not written while a parameter of a described function has no description.', async () => {
    await expect(
      pagesOf(PART.replace(' * @param onEvent Called whenever it is switched.\n', '')),
    ).rejects.toThrow(/index\.createLamp\.onEvent has no doc comment$/);
  });
});
