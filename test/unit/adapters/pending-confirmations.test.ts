import { describe, expect, it } from 'vitest';
import { PendingConfirmations } from '../../../src/adapters/pending-confirmations.js';
import type { CatalogTool } from '../../../src/catalog/registry.js';

const named = (name: string, title = ''): CatalogTool => ({ name, title }) as CatalogTool;

describe('the tools that await confirmation', () => {
  it('are returned once, in the first version.', () => {
    const asked = new PendingConfirmations();
    asked.note('1', named('a', 'first'));
    asked.note('1', named('a', 'second'));
    expect(asked.take('1', 'a')).toEqual(named('a', 'first'));
    expect(asked.take('1', 'a')).toBeUndefined();
  });

  it('are not confused if every conversation numbers its calls from the start.', () => {
    const asked = new PendingConfirmations();
    asked.note('call_0', named('never answered'));
    asked.note('call_0', named('b'));
    expect(asked.take('call_0', 'b')).toEqual(named('b'));
    expect(asked.take('call_0', 'c')).toBeUndefined();
  });

  it('are limited to the last thousand.', () => {
    const asked = new PendingConfirmations();
    for (let id = 0; id <= 1_000; id += 1) asked.note(String(id), named(`t${id}`));
    expect(asked.take('0', 't0')).toBeUndefined();
    expect(asked.take('1', 't1')).toEqual(named('t1'));
    expect(asked.take('1000', 't1000')).toEqual(named('t1000'));
  });
});
