import { describe, expect, it } from 'vitest';
import { AskedAbout } from '../../src/adapters/asked-about.js';
import type { CatalogTool } from '../../src/catalog/registry.js';

const named = (name: string): CatalogTool => ({ name }) as CatalogTool;

describe('the tools that a person was asked about', () => {
  it('are given once, as they were first.', () => {
    const asked = new AskedAbout();
    asked.note('1', named('a'));
    asked.note('1', named('b'));
    expect(asked.take('1')).toEqual(named('a'));
    expect(asked.take('1')).toBeUndefined();
  });

  it('are the last thousand at most.', () => {
    const asked = new AskedAbout();
    for (let id = 0; id <= 1_000; id += 1) asked.note(String(id), named(`t${id}`));
    expect(asked.take('0')).toBeUndefined();
    expect(asked.take('1')).toEqual(named('t1'));
    expect(asked.take('1000')).toEqual(named('t1000'));
  });
});
