import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ProcessTree } from '../../../../src/transports/stdio/process-tree.js';
import { StopLadder } from '../../../../src/transports/stdio/stop-ladder.js';
import { HandClock } from '../../../support/hand-clock.js';

/** A process tree that ends when the test says so, or on a signal that it does not ignore. */
class FakeTree implements ProcessTree {
  readonly log: string[] = [];
  leaderAlive = true;
  helperAlive = false;
  deafTo: readonly string[] = [];
  readonly #clock: HandClock;

  constructor(clock: HandClock) {
    this.#clock = clock;
  }

  note(what: string): void {
    this.log.push(`${this.#clock.now()} ${what}`);
  }

  isAlive(): boolean {
    return this.leaderAlive || this.helperAlive;
  }

  takeStock(): void {
    this.note('take stock');
  }

  signal(signal: string): void {
    this.note(signal);
    if (this.deafTo.includes(signal)) return;
    this.leaderAlive = false;
    this.helperAlive = false;
  }

  kill(): void {
    this.signal('SIGKILL');
  }
}

function climb(prepare: (tree: FakeTree) => void = () => {}): {
  tree: FakeTree;
  clock: HandClock;
  ladder: StopLadder;
  result: { gone?: boolean };
} {
  const clock = new HandClock();
  const tree = new FakeTree(clock);
  prepare(tree);
  const endInput = (): void => tree.note('end input');
  const ladder = new StopLadder({ tree, endInput, clock, policy: { stdinEndMs: 1_000, termMs: 1_000 } });
  const result: { gone?: boolean } = {};
  void ladder.run().then((gone) => (result.gone = gone));
  return { tree, clock, ladder, result };
}

describe('the stop ladder', () => {
  it('sends no signal to a server that ends with its input, and does not wait for the limit', async () => {
    const { tree, clock, ladder, result } = climb();
    await clock.advance(10);
    tree.leaderAlive = false;
    ladder.leaderEnded();
    await turn();
    expect(result).toEqual({ gone: true });
    expect(tree.log).toEqual(['0 take stock', '0 end input']);
    expect(clock.pending).toBe(0);
  });

  it('escalates from the end of input to SIGTERM to SIGKILL, each after its time', async () => {
    const { tree, clock, result } = climb((fake) => (fake.deafTo = ['SIGTERM']));
    await clock.advance(2_000);
    await clock.advance(100);
    expect(tree.log).toEqual(['0 take stock', '0 end input', '1000 SIGTERM', '2000 SIGKILL']);
    expect(result).toEqual({ gone: true });
    expect(clock.pending).toBe(0);
  });

  it('continues while a helper is alive although the spawned process has ended', async () => {
    const { tree, clock, ladder, result } = climb((fake) => (fake.helperAlive = true));
    tree.leaderAlive = false;
    ladder.leaderEnded();
    await clock.advance(990);
    expect(result).toEqual({});
    await clock.advance(50);
    expect(tree.log.at(-1)).toBe('1000 SIGTERM');
    expect(result).toEqual({ gone: true });
  });

  it('starts with SIGTERM if the process had ended before and left a helper', async () => {
    const { tree, clock, result } = climb((fake) => {
      fake.leaderAlive = false;
      fake.helperAlive = true;
    });
    await clock.advance(50);
    expect(tree.log).toEqual(['0 end input', '0 SIGTERM']);
    expect(result).toEqual({ gone: true });
  });

  it('ends at once if nothing is left', async () => {
    const { tree, clock, result } = climb((fake) => (fake.leaderAlive = false));
    await turn();
    expect(result).toEqual({ gone: true });
    expect(tree.log).toEqual(['0 end input']);
    expect(clock.pending).toBe(0);
  });

  it('skips the waiting after kill()', async () => {
    const { tree, clock, ladder, result } = climb();
    await clock.advance(100);
    ladder.kill();
    expect(tree.log.at(-1)).toBe('100 SIGKILL');
    await turn();
    expect(result).toEqual({ gone: true });
    expect(clock.pending).toBe(0);
  });

  it('gives up two seconds after SIGKILL, and reports it', async () => {
    const { clock, result } = climb((fake) => (fake.deafTo = ['SIGTERM', 'SIGKILL']));
    await clock.advance(3_950);
    expect(result).toEqual({});
    await clock.advance(100);
    expect(result).toEqual({ gone: false });
    expect(clock.pending).toBe(0);
  });
});
