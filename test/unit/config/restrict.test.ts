import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAllowed } from '../../../src/config/entry/tool-filter.js';
import { restrictTools } from '../../../src/config/merge.js';
import type { ServerConfig, ServerSettings } from '../../../src/config/entry/server-config.js';

const entry = (tools?: ServerSettings['tools']): ServerConfig => ({ command: 'x', ...(tools && { tools }) });

describe('combined tool lists', () => {
  it.each<[one: readonly string[], other: readonly string[], both: readonly string[]]>([
    [['a', 'b'], ['b', 'c'], ['b']],
    [['*'], ['a', 'b*'], ['a', 'b*']],
    [['a*'], ['ab*'], ['ab*']],
    [['a*'], ['*b'], []],
    [[], ['*'], []],
    [['a'], ['b'], []],
  ])('allow what both lists allow: %j and %j', (one, other, both) => {
    expect(restrictTools(entry({ allow: one }), [entry({ allow: other })]).tools).toEqual({ allow: both });
  });

  it('are those of the other entries if the entry has none', () => {
    const others = [entry({ allow: ['a'] }), entry(), entry({ deny: ['b'] })];
    expect(restrictTools(entry(), others).tools).toEqual({ allow: ['a'], deny: ['b'] });
    expect(restrictTools(entry(), [entry()])).not.toHaveProperty('tools');
  });

  it('never allow what one of the lists forbids', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 4 });
    const tools = fc.record({ allow: fc.array(pattern), deny: fc.array(pattern) }, { requiredKeys: [] });
    const tool = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 5 });
    fc.assert(
      fc.property(tools, fc.array(tools, { maxLength: 3 }), tool, (own, others, name) => {
        const together = restrictTools(entry(own), others.map(entry)).tools ?? {};
        if (!isAllowed(name, together)) return;
        for (const each of [own, ...others]) expect(isAllowed(name, each)).toBe(true);
      }),
    );
  });
});
