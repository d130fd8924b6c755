/** The tests that do not run on this system: see `tools/wine/left-out.mjs` and `tools/missing-programs.mjs`. */
import process from 'node:process';

interface LeftOut {
  /** `FILE > NAME`, or a whole file. */
  readonly name: string;
  readonly reason: string;
  readonly isFile: boolean;
  matches(test: string): boolean;
}

const { leftOut } = (await import(new URL('../../tools/wine/left-out.mjs', import.meta.url).href)) as {
  leftOut(wine: string | undefined): readonly LeftOut[];
};

const { missingPrograms } = (await import(
  new URL('../../tools/missing-programs.mjs', import.meta.url).href
)) as {
  missingPrograms(): readonly LeftOut[];
};

export const LEFT_OUT =
  process.platform === 'win32' ? leftOut(process.env['TROUPE_WINE']) : missingPrograms();
