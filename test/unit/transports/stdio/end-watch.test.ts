import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { endFailure, EndWatch, type EndCause } from '../../../../src/transports/stdio/end-watch.js';
import { HandClock } from '../../../support/hand-clock.js';

function watch(): { watch: EndWatch; clock: HandClock; told: EndCause[] } {
  const clock = new HandClock();
  const told: EndCause[] = [];
  return { watch: new EndWatch(clock, (cause) => void told.push(cause)), clock, told };
}

const CODE_3 = { code: 3, signal: null };

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}

describe('the end watch', () => {
  it('tells an exit only after what was written before could be read', async () => {
    const { watch: end, told } = watch();
    end.exited(CODE_3);
    await turn();
    expect(told).toEqual([]);
    await turns(3);
    expect(told).toEqual([{ kind: 'exited', exit: CODE_3 }]);
  });

  it('prefers the exit that follows a closed pipe', async () => {
    const { watch: end, clock, told } = watch();
    end.pipeClosed('stdin-broken');
    end.pipeClosed('stdout-closed');
    await clock.advance(200);
    end.exited(CODE_3);
    await turns(4);
    await clock.advance(1_000);
    expect(told).toEqual([{ kind: 'exited', exit: CODE_3 }]);
    expect(clock.pending).toBe(0);
  });

  it('tells that the pipe is closed where no exit follows', async () => {
    const { watch: end, clock, told } = watch();
    end.pipeClosed('stdout-closed');
    await clock.advance(250);
    expect(told).toEqual([{ kind: 'stdout-closed' }]);
  });

  it('tells nothing once the end is ours', async () => {
    const { watch: end, clock, told } = watch();
    end.pipeClosed('stdout-closed');
    end.stop();
    end.exited(CODE_3);
    await turns(4);
    await clock.advance(1_000);
    expect(told).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('does not forget an exit that came just before the end was ours', () => {
    const { watch: end, told } = watch();
    end.exited(CODE_3);
    end.stop();
    expect(told).toEqual([{ kind: 'exited', exit: CODE_3 }]);
  });
});

describe('the failure of an ended session', () => {
  it('names the exit code and shows the last line of stderr', () => {
    const failure = endFailure({ kind: 'exited', exit: CODE_3 }, ['starting', 'REGION is not set', '']);
    expect(failure).toEqual({
      code: 'process-exited',
      message: 'The server exited with code 3.',
      exit: CODE_3,
      hint: 'The last line on its stderr was: REGION is not set',
      stderrTail: ['starting', 'REGION is not set', ''],
    });
  });

  it('shows an earlier line where the last one says nothing', () => {
    const lines = ['Error: no region', '    at main (server.mjs:1:1)', '', 'Node.js v20.20.2'];
    expect(endFailure({ kind: 'exited', exit: CODE_3 }, lines)).toMatchObject({
      hint: 'On its stderr it said: Error: no region',
      stderrTail: lines,
    });
  });

  it('names the signal', () => {
    const exit = { code: null, signal: 'SIGKILL' };
    const { hint, message, ...rest } = endFailure({ kind: 'exited', exit }, []);
    expect(rest).toEqual({ code: 'process-exited', exit });
    expect(message).toContain('SIGKILL');
    expect(hint).toBeDefined();
  });

  it('carries at most twenty lines of stderr: the first and the last', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`);
    const { stderrTail = [] } = endFailure({ kind: 'stdout-closed' }, lines);
    expect(stderrTail).toHaveLength(20);
    expect([stderrTail[0], stderrTail.at(-1)]).toEqual(['line 0', 'line 199']);
  });
});
