/**
 * The terminal while the console has it: the alternative screen, without a cursor and without wrapping.
 *
 * Only lines that differ are written. Whatever ends the process, except SIGKILL, gives the terminal back first.
 */
import ansi from 'ansi-escapes';
import { atExit } from '../../async/exit-hook.js';
import type { OutputStream } from '../output/terminal.js';
import type { Size } from './console-view.js';

const WRAPS = '\u001B[?7h';
const CUTS = '\u001B[?7l';
/** For a terminal that does not tell. */
const USUAL_SIZE: Size = { columns: 80, rows: 24 };

export class Screen {
  #shown: readonly string[] = [];
  #forgetExit: (() => void) | undefined;

  constructor(private readonly stream: OutputStream) {}

  get size(): Size {
    const { columns, rows } = this.stream;
    return { columns: columns || USUAL_SIZE.columns, rows: rows || USUAL_SIZE.rows };
  }

  /** Takes the terminal. */
  enter(): void {
    this.#forgetExit ??= atExit(() => this.leave());
    this.stream.write(ansi.enterAlternativeScreen + ansi.cursorHide + CUTS);
    this.clear();
  }

  /** The next lines are all drawn. */
  clear(): void {
    this.#shown = [];
    this.stream.write(ansi.clearViewport);
  }

  /** Gives the terminal back as it was. */
  leave(): void {
    if (this.#forgetExit === undefined) return;
    this.#forgetExit();
    this.#forgetExit = undefined;
    // After a resize, tmux leaves the lines above the cursor on the normal screen, if they fit there.
    const end = ansi.cursorTo(0, this.size.rows - 1);
    this.stream.write(end + WRAPS + ansi.cursorShow + ansi.exitAlternativeScreen);
  }

  draw(lines: readonly string[]): void {
    const changed = lines.flatMap((text, row) =>
      text === this.#shown[row] ? [] : ansi.cursorTo(0, row) + ansi.eraseLine + text,
    );
    this.#shown = lines;
    if (changed.length > 0) this.stream.write(ansi.synchronizedOutput(changed.join('')));
  }
}
