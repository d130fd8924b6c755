import { describe, expect, it } from 'vitest';
import { chooseTools, tokensOf, type Offer } from '../../../src/search/offer.js';

const named = (name: string, length = 100) => ({
  name,
  description: 'x'.repeat(length),
  inputSchema: { type: 'object' as const },
});
const TOOLS = [named('read'), named('write'), named('help')];

function shownBy(offer: Offer | undefined): string[] {
  return chooseTools(TOOLS, offer, ({ name }) => name === 'help').shown.map(({ name }) => name);
}

describe('An offer', () => {
  it.each([undefined, 'all', { mode: 'all' }] as const)('shows every tool: %j', (offer) => {
    expect(shownBy(offer)).toEqual(['read', 'write', 'help']);
    expect(chooseTools(TOOLS, offer, () => true).hidden).toEqual([]);
  });

  it('shows only pinned tools with a search, those of the configuration and those of the host.', () => {
    expect(shownBy('search')).toEqual(['help']);
    expect(shownBy({ mode: 'search', pinned: ['wr*'] })).toEqual(['write', 'help']);
    const { hidden } = chooseTools(TOOLS, { mode: 'search', pinned: ['wr*'] }, () => false);
    expect(hidden.map(({ name }) => name)).toEqual(['read', 'help']);
  });

  it('shows all tools up to its number of tokens, if it is automatic.', () => {
    const tokens = tokensOf(TOOLS);
    expect(shownBy({ maxTokens: tokens })).toHaveLength(3);
    expect(shownBy({ maxTokens: tokens - 1 })).toEqual(['help']);
    expect(shownBy('auto')).toHaveLength(3);
  });

  it('estimates a quarter of the characters of each definition.', () => {
    const tool = named('read', 400);
    const { name, description, inputSchema } = tool;
    expect(tokensOf([tool])).toBe(Math.ceil(JSON.stringify({ name, description, inputSchema }).length / 4));
  });
});
