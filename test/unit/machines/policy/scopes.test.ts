import { describe, expect, it } from 'vitest';
import { answered, demand, isNewDemand, NO_SCOPES, scopesToAsk } from '../../../../machines/policy/scopes.js';

describe('a demand for scopes', () => {
  it('is new unless all of them were granted or requested.', () => {
    const ledger = answered(NO_SCOPES, ['sail']);
    expect(isNewDemand(ledger, ['sail', 'look'], ['look'])).toBe(false);
    expect(isNewDemand(ledger, ['sail', 'moor'], ['look'])).toBe(true);
    expect(isNewDemand(ledger, [], [])).toBe(false);
  });

  it('is requested together with what was granted and requested before.', () => {
    const ledger = demand(answered(NO_SCOPES, ['sail']), ['moor', 'sail']);
    expect(scopesToAsk(ledger, ['look'], ['usual'])).toEqual(['look', 'sail', 'moor']);
  });

  it('ends once it was answered: the usual scopes are requested again.', () => {
    const ledger = answered(demand(NO_SCOPES, ['moor']), ['look', 'moor']);
    expect(ledger).toEqual({ asked: ['look', 'moor'], wanted: [] });
    expect(scopesToAsk(ledger, ['look'], ['usual'])).toEqual(['usual']);
  });
});
