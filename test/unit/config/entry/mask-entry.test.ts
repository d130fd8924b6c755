import { describe, expect, it } from 'vitest';
import { maskConfig, maskUrl } from '../../../../src/config/entry/mask-entry.js';

describe('a masked entry', () => {
  it('shows what it runs, and hides the values it passes', () => {
    const config = {
      type: 'stdio',
      command: 'lamp',
      args: ['--room=$ROOM'],
      env: { TOKEN: 'sk-123', ROOM: '${ROOM}', MIX: 'Bearer ${T} x', DEFAULT: '${D:-sk-456}', EMPTY: '' },
      cwd: '~/x',
      startTimeoutMs: 5_000,
      tools: { deny: ['a'] },
    } as const;
    expect(maskConfig(config)).toEqual({
      ...config,
      env: { TOKEN: '***', ROOM: '${ROOM}', MIX: '***${T}***', DEFAULT: '${D:-***}', EMPTY: '' },
    });
  });

  it('shows paths of what it runs as written', () => {
    const config = {
      command: '${userHome}/bin/lamp',
      args: ['--file', '${userHome}/memory.json', '${workspaceFolder}/a b'],
      cwd: '${workspaceFolder}/lamps',
    };
    expect(maskConfig(config)).toEqual(config);
  });

  it('shows where it connects to, and hides headers', () => {
    const config = {
      url: 'https://example.com/mcp?key=sk-1',
      headers: { Authorization: 'Bearer sk-1', X: '${X}', Broken: '${sk-1' },
    };
    expect(maskConfig(config)).toEqual({
      url: 'https://example.com/mcp?key=***',
      headers: { Authorization: '***', X: '${X}', Broken: '***' },
    });
  });

  it('is plain data, even for an in-process server', () => {
    const config = {
      type: 'in-process',
      server: { connect: () => Promise.resolve() },
      startTimeoutMs: 1,
    } as const;
    expect(maskConfig(config)).toEqual({ type: 'in-process', startTimeoutMs: 1 });
  });
});

describe('a masked address', () => {
  it.each([
    ['https://example.com/mcp', 'https://example.com/mcp'],
    ['https://u:p@example.com/mcp', 'https://***@example.com/mcp'],
    ['https://token@example.com', 'https://***@example.com'],
    ['https://u:p@ss@example.com', 'https://***@example.com'],
    ['https:\\\\u:p@example.com', 'https:\\\\***@example.com'],
    ['https:u:p@example.com', '***@example.com'],
    ['https://evil.example/@example.com', 'https://evil.example/@example.com'],
    ['https://x/?a=1&b=2&c', 'https://x/?a=***&b=***&***'],
    ['https://x/?a=1=2', 'https://x/?a=***'],
    ['https://x/?', 'https://x/?***'],
    ['https://x/#secret', 'https://x/#***'],
    ['https://x/?a=1#?b=2', 'https://x/?a=***#***'],
    ['${BASE}/mcp', '${BASE}/mcp'],
    ['https://${HOST:-u:p@internal?k=v}/mcp', 'https://${HOST:-***}/mcp'],
    ['${BASE}?key=${KEY}', '${BASE}?key=***'],
    ['https://${', 'https://${'],
  ])('of %s is %s', (url, shown) => {
    expect(maskUrl(url)).toBe(shown);
  });
});
