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

  /** Checks after the end of the leader: only these look at other processes. */
  looks = 0;

  isAlive(): boolean {
    if (!this.leaderAlive) this.looks += 1;
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

function climb(
  prepare: (tree: FakeTree) => void = () => {},
  clock = new HandClock(),
): {
  tree: FakeTree;
  clock: HandClock;
  ladder: StopLadder;
  result: { gone?: boolean };
} {
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

describe('servers that are stopped at the same time', () => {
  const end = ({ tree, ladder }: ReturnType<typeof climb>): void => {
    tree.leaderAlive = false;
    ladder.leaderEnded();
  };

  it('are looked up together when the last of them has ended', async () => {
    const clock = new HandClock();
    const [first, second, last] = [climb(undefined, clock), climb(undefined, clock), climb(undefined, clock)];
    end(first);
    await turn();
    end(second);
    await turn();
    expect([first, second].map(({ tree, result }) => [tree.looks, result])).toEqual([
      [0, {}],
      [0, {}],
    ]);
    end(last);
    await turn();
    expect([first, second, last].map(({ result }) => result)).toEqual([
      { gone: true },
      { gone: true },
      { gone: true },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('wait for one that stays no longer than survivors are looked for', async () => {
    const clock = new HandClock();
    const [quick, slow] = [climb(undefined, clock), climb(undefined, clock)];
    end(quick);
    await clock.advance(19);
    expect(quick.result).toEqual({});
    await clock.advance(1);
    expect(quick.result).toEqual({ gone: true });
    expect(slow.result).toEqual({});
    end(slow);
    await turn();
    expect(slow.result).toEqual({ gone: true });
    expect(clock.pending).toBe(0);
  });

  it('do not wait for one that is given up', async () => {
    const clock = new HandClock();
    const stubborn = climb((tree) => (tree.deafTo = ['SIGTERM', 'SIGKILL']), clock);
    await clock.advance(3_995);
    const late = climb(undefined, clock);
    end(late);
    await clock.advance(15);
    expect([stubborn.result, late.result]).toEqual([{ gone: false }, { gone: true }]);
  });

  it('do not wait for servers of a host with another clock', async () => {
    const other = climb();
    const own = climb();
    end(own);
    await turn();
    expect([own.result, other.result]).toEqual([{ gone: true }, {}]);
  });
});
