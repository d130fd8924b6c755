import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StopLadder, type ProcessTree } from '../../../../src/transports/stdio/stop-ladder.js';
import { HandClock } from '../../../support/hand-clock.js';

/** A tree that ends when the test, or a signal it is not deaf to, says so. */
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

  it('goes from the end of input to SIGTERM to SIGKILL, each after its time', async () => {
    const { tree, clock, result } = climb((fake) => (fake.deafTo = ['SIGTERM']));
    await clock.advance(2_000);
    await clock.advance(100);
    expect(tree.log).toEqual(['0 take stock', '0 end input', '1000 SIGTERM', '2000 SIGKILL']);
    expect(result).toEqual({ gone: true });
    expect(clock.pending).toBe(0);
  });

  it('goes on while a helper lives although the process that was spawned has ended', async () => {
    const { tree, clock, ladder, result } = climb((fake) => (fake.helperAlive = true));
    tree.leaderAlive = false;
    ladder.leaderEnded();
    await clock.advance(990);
    expect(result).toEqual({});
    await clock.advance(50);
    expect(tree.log.at(-1)).toBe('1000 SIGTERM');
    expect(result).toEqual({ gone: true });
  });

  it('begins with SIGTERM where the process had ended before and left a helper', async () => {
    const { tree, clock, result } = climb((fake) => {
      fake.leaderAlive = false;
      fake.helperAlive = true;
    });
    await clock.advance(50);
    expect(tree.log).toEqual(['0 end input', '0 SIGTERM']);
    expect(result).toEqual({ gone: true });
  });

  it('is over at once where nothing is left', async () => {
    const { tree, clock, result } = climb((fake) => (fake.leaderAlive = false));
    await turn();
    expect(result).toEqual({ gone: true });
    expect(tree.log).toEqual(['0 end input']);
    expect(clock.pending).toBe(0);
  });

  it('skips the waiting once it is told to kill', async () => {
    const { tree, clock, ladder, result } = climb();
    await clock.advance(100);
    ladder.kill();
    expect(tree.log.at(-1)).toBe('100 SIGKILL');
    await turn();
    expect(result).toEqual({ gone: true });
    expect(clock.pending).toBe(0);
  });

  it('gives up two seconds after SIGKILL, and says so', async () => {
    const { clock, result } = climb((fake) => (fake.deafTo = ['SIGTERM', 'SIGKILL']));
    await clock.advance(3_950);
    expect(result).toEqual({});
    await clock.advance(100);
    expect(result).toEqual({ gone: false });
    expect(clock.pending).toBe(0);
  });
});
