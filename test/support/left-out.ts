/** The tests that do not run on this system: see `tools/wine/left-out.mjs` and `tools/optional-programs.mjs`. */
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

const { missingPrograms, programPath } = (await import(
  new URL('../../tools/optional-programs.mjs', import.meta.url).href
)) as {
  missingPrograms(): readonly LeftOut[];
  programPath(program: string): string | undefined;
};

/** Where a program is that not every machine has; undefined if it is missing. */
export { programPath };

export const LEFT_OUT =
  process.platform === 'win32' ? leftOut(process.env['TROUPE_WINE']) : missingPrograms();
