/** The verdict on the calls of a chaos run: every forbidden result is found. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { Ledger } from '../../../support/tools/chaos.js';

const LIMIT_MS = 1_000;
const answer = (id: string) => ({ content: [{ type: 'text', text: id }] });
const failure = (code: string) => Object.assign(new Error('failed'), { code });

function ledgerOf(...calls: readonly (readonly [id: string, tool: string, outcome: string])[]) {
  const ledger = new Ledger();
  for (const [id, tool, outcome] of calls) {
    ledger.begin(id, tool);
    if (outcome === 'answered') ledger.answered(id, answer(id), 1, LIMIT_MS);
    else ledger.failed(id, failure(outcome), 1, LIMIT_MS);
  }
  return ledger;
}

useLeakCheck();

describe('The ledger of a chaos run', () => {
  it('has no faults if every outcome matches the servers and the events.', () => {
    const ledger = ledgerOf(
      ['a', 'act', 'answered'],
      ['b', 'act', 'OUTCOME_UNKNOWN'],
      ['c', 'act', 'OUTCOME_UNKNOWN'],
      ['d', 'put', 'answered'],
      ['e', 'read', 'answered'],
      ['f', 'act', 'NOT_READY'],
      ['g', 'slow', 'CALL_TIMEOUT'],
      ['h', 'act', 'UNKNOWN_TOOL'],
    );
    const journal = [
      { ev: 'act', id: 'a' },
      { ev: 'act', id: 'b' },
      { ev: 'put', id: 'd' },
      { ev: 'put', id: 'd' },
      { ev: 'slow', id: 'g' },
    ];
    expect(ledger.judge(journal, { answered: 3, 'outcome-unknown': 2, 'timed-out': 1 })).toEqual([]);
  });

  it.each([
    [
      'a side effect that happened twice',
      'act',
      'OUTCOME_UNKNOWN',
      2,
      'a (act, outcome-unknown) was executed 2',
    ],
    [
      'a slow side effect that happened twice',
      'slow',
      'CALL_TIMEOUT',
      2,
      'a (slow, timed-out) was executed 2',
    ],
    ['an answer without the side effect', 'act', 'answered', 0, 'a (act, answered) was executed 0'],
    ['a side effect of a call that was not sent', 'act', 'NOT_READY', 1, 'a (act, not-sent) was executed 1'],
  ])('reports %s.', (_, tool, outcome, times, fault) => {
    const journal = Array.from({ length: times }, () => ({ ev: tool, id: 'a' }));
    const counts = { 'outcome-unknown': 1, 'timed-out': 1, answered: 1 };
    expect(ledgerOf(['a', tool, outcome]).judge(journal, counts).join('\n')).toContain(fault);
  });

  it('reports a side effect without a call.', () => {
    expect(ledgerOf().judge([{ ev: 'act', id: 'x' }], {})).toEqual(['x was executed and never called']);
  });

  it('reports a second process of one server.', () => {
    const second = { ev: 'second', name: 'stdio-1', pid: 2, former: 1 };
    expect(ledgerOf().judge([second], {})).toEqual(['stdio-1: process 2 was started while 1 was alive']);
  });

  it('reports a call that never settled, settled twice, or settled late.', () => {
    const ledger = ledgerOf(['b', 'read', 'NOT_READY']);
    ledger.begin('a', 'read');
    ledger.failed('b', failure('NOT_READY'), LIMIT_MS + 1, LIMIT_MS);
    expect(ledger.judge([], {})).toEqual([
      'b settled twice: not-sent, then not-sent',
      `b took ${LIMIT_MS + 1} ms, but at most ${LIMIT_MS} is allowed`,
      'a (read) never settled',
    ]);
  });

  it('reports the answer of another call, an unexpected error, and a listener that was left.', () => {
    const ledger = new Ledger();
    ledger.begin('a', 'read');
    ledger.answered('a', answer('b'), 1, LIMIT_MS);
    ledger.begin('c', 'read');
    ledger.failed('c', new TypeError('cannot read'), 1, LIMIT_MS);
    ledger.listeners('c', 1);
    const faults = ledger.judge([], { answered: 1 });
    expect(faults[0]).toBe('a was given the answer of another call');
    expect(faults[1]).toMatch(/^c failed with an unexpected error: TypeError: cannot read/);
    expect(faults[2]).toBe("c left 1 listeners on its caller's signal");
  });

  it('reports events that contradict the results of the calls.', () => {
    const ledger = ledgerOf(['a', 'read', 'answered'], ['b', 'read', 'OUTCOME_UNKNOWN']);
    expect(ledger.judge([], { answered: 2 })).toEqual([
      '1 calls were answered, but 2 events say so',
      '1 calls were outcome-unknown, but 0 events say so',
    ]);
  });

  it('accepts an aborted call that was not sent, or was between two attempts.', () => {
    const ledger = ledgerOf(['a', 'read', 'CALL_ABORTED'], ['b', 'read', 'CALL_ABORTED']);
    expect(ledger.judge([], { 'outcome-unknown': 1 })).toEqual([]);
    expect(ledger.judge([], { 'outcome-unknown': 1, aborted: 2 })).toHaveLength(1);
  });
});
