/**
 * Lines at the bottom of a terminal that are redrawn. There is at most one area at a time; other output appears above
 * it (see `terminal.ts`, T2).
 */
import stringWidth from 'string-width';
import type { OutputStream, Terminal } from './terminal.js';
import { timeLeft } from '../../async/timers.js';
import type { Clock } from '../../ports.js';

export interface LiveArea {
  /** Draws the current content; costs nothing if that has not changed. */
  refresh(): void;
  /** Ends the redrawing. The last content stays or is erased. */
  close(last: 'keep' | 'erase'): void;
}

const CLEAR_SCREEN = '\u001B[2J\u001B[H';
/** The cursor stays on an empty line below the area, where a terminal echoes `^C` and other keys. */
const ERASE_ECHO = '\r\u001B[K';

export async function openLiveArea(
  terminal: Terminal,
  stream: OutputStream,
  render: () => string,
): Promise<LiveArea> {
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(stream);
  let text = '';
  let shown = '';
  const redraw = (): void => {
    if (text === '' || text === shown) return;
    shown = text;
    stream.write(ERASE_ECHO);
    draw(text);
  };
  const refresh = (): void => {
    text = render();
    redraw();
  };
  const erase = (): void => {
    shown = '';
    draw.clear();
  };
  const resized = (): void => {
    const isWrapped = widest(shown) > (stream.columns ?? Infinity);
    erase();
    // A terminal wraps lines that became too long, so the number of lines to erase is unknown.
    if (isWrapped) stream.write(CLEAR_SCREEN);
    refresh();
  };
  // Other output can be frequent, and the content has its price.
  terminal.overlay = { erase, redraw };
  stream.on('resize', resized);
  return {
    refresh,
    close: (last) => {
      stream.off('resize', resized);
      terminal.overlay = undefined;
      if (last === 'keep') refresh();
      else erase();
      draw.done();
    },
  };
}

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => stringWidth(line)));
}

// When to draw a live part of the screen: soon after a change, but at most every `FRAME_MS`, however many changes there are.

const FRAME_MS = 100;

export class RedrawSchedule {
  #timer: unknown;
  #drawnAt = -Infinity;
  #isSoon = false;

  /** Draws at once. With `tickMs`, also that long after the last time: what is shown can depend on the time. */
  constructor(
    private readonly clock: Clock,
    private readonly draw: () => void,
    private readonly tickMs?: number,
  ) {
    this.#drawNow();
  }

  /** Something visible has changed. */
  changed(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#drawIn(timeLeft(this.clock, this.#drawnAt, FRAME_MS));
  }

  close(): void {
    this.clock.clearTimeout(this.#timer);
  }

  #drawNow(): void {
    this.#isSoon = false;
    this.#drawnAt = this.clock.now();
    this.draw();
    if (this.tickMs !== undefined) this.#drawIn(this.tickMs);
  }

  #drawIn(ms: number): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = this.clock.setTimeout(() => this.#drawNow(), ms);
  }
}
