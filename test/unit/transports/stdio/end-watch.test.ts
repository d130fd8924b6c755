import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { endFailure, EndWatch, type EndCause } from '../../../../src/transports/stdio/end-watch.js';
import { HandClock } from '../../../support/hand-clock.js';

function watch(): { watch: EndWatch; clock: HandClock; causes: EndCause[] } {
  const clock = new HandClock();
  const causes: EndCause[] = [];
  return { watch: new EndWatch(clock, (cause) => void causes.push(cause)), clock, causes };
}

const CODE_3 = { code: 3, signal: null };

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}

describe('the end watch', () => {
  it('reports an exit only after earlier output could be read', async () => {
    const { watch: end, causes } = watch();
    end.exited(CODE_3);
    await turn();
    expect(causes).toEqual([]);
    await turns(3);
    expect(causes).toEqual([{ kind: 'exited', exit: CODE_3 }]);
  });

  it('prefers the exit that follows a closed pipe', async () => {
    const { watch: end, clock, causes } = watch();
    end.pipeClosed('stdin-broken');
    end.pipeClosed('stdout-closed');
    await clock.advance(200);
    end.exited(CODE_3);
    await turns(4);
    await clock.advance(1_000);
    expect(causes).toEqual([{ kind: 'exited', exit: CODE_3 }]);
    expect(clock.pending).toBe(0);
  });

  it('reports that the pipe is closed if no exit follows', async () => {
    const { watch: end, clock, causes } = watch();
    end.pipeClosed('stdout-closed');
    await clock.advance(250);
    expect(causes).toEqual([{ kind: 'stdout-closed' }]);
  });

  it('reports nothing once the client ends the session', async () => {
    const { watch: end, clock, causes } = watch();
    end.pipeClosed('stdout-closed');
    end.stop();
    end.exited(CODE_3);
    await turns(4);
    await clock.advance(1_000);
    expect(causes).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('still reports an exit that came just before the client ended the session', () => {
    const { watch: end, causes } = watch();
    end.exited(CODE_3);
    end.stop();
    expect(causes).toEqual([{ kind: 'exited', exit: CODE_3 }]);
  });
});

describe('the failure of an ended session', () => {
  it('shows a code of the system on Windows as it is known', () => {
    const ended = (code: number) => endFailure({ kind: 'exited', exit: { code, signal: null } }, []).message;
    expect([ended(3_221_226_505), ended(255)]).toEqual([
      expect.stringContaining('0xC0000409'),
      expect.stringContaining('255'),
    ]);
  });

  it('names the exit code and shows the last line of stderr', () => {
    const failure = endFailure({ kind: 'exited', exit: CODE_3 }, ['starting', 'REGION is not set', '']);
    expect(failure).toEqual({
      code: 'process-exited',
      message: expect.stringContaining('code 3'),
      exit: CODE_3,
      hint: expect.stringContaining('REGION is not set'),
      stderrTail: ['starting', 'REGION is not set', ''],
    });
  });

  it('shows an earlier line if the last one is not helpful', () => {
    const lines = ['Error: no region', '    at main (server.mjs:1:1)', '', 'Node.js v20.20.2'];
    expect(endFailure({ kind: 'exited', exit: CODE_3 }, lines)).toMatchObject({
      hint: expect.stringContaining('Error: no region'),
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

  it('has at most twenty lines of stderr: the first and the last', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`);
    const { stderrTail = [] } = endFailure({ kind: 'stdout-closed' }, lines);
    expect(stderrTail).toHaveLength(20);
    expect([stderrTail[0], stderrTail.at(-1)]).toEqual(['line 0', 'line 199']);
  });
});
