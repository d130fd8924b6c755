import { describe, expect, it } from 'vitest';
import { effectiveSettings } from '../../../../src/config/entry/effective-settings.js';
import { mayDownload } from '../../../../src/config/entry/may-download.js';

describe('a command', () => {
  it.each([
    ['npx', ['-y', 'files']],
    ['C:\\node\\npx.cmd', ['files']],
    ['/usr/bin/uvx', ['mcp-files']],
    ['npm', ['exec', '--', 'files']],
    ['pnpm', ['--silent', 'dlx', 'files']],
    ['bun', ['x', 'files']],
    ['uv', ['tool', 'run', 'files']],
    ['pipx', ['run', 'files']],
    ['docker', ['run', '-i', '--rm', 'files']],
    ['deno', ['run', '-A', 'npm:files']],
    ['cmd', ['/c', 'npx', '-y', 'files']],
  ])('may download its program: %s %j', (command, args) => {
    expect(mayDownload({ command, args })).toBe(true);
  });

  it.each([
    ['node', ['npx.js']],
    ['npm', ['start']],
    ['uv', ['pip', 'list']],
    ['docker', ['exec', 'files', 'serve']],
    ['deno', ['run', 'main.ts']],
    ['constructor', []],
  ])('starts an installed program: %s %j', (command, args) => {
    expect(mayDownload({ command, args })).toBe(false);
  });
});

describe('the limit of the handshake', () => {
  const limit = (...given: Parameters<typeof effectiveSettings>) =>
    effectiveSettings(...given).policy.handshakeTimeoutMs;
  const npx = { command: 'npx', args: ['files'] };

  it('is longer for a download, unless a limit is given', () => {
    const usual = limit({});
    expect(limit(npx)).toBeGreaterThan(usual);
    expect(limit({ ...npx, startTimeoutMs: 5 })).toBe(5);
    expect(limit(npx, { policy: { handshakeTimeoutMs: 7 } })).toBe(7);
    expect(limit({ ...npx, policy: { handshakeTimeoutMs: 9 } })).toBe(9);
    expect(limit(npx, { env: { TROUPE_TIMEOUT_MS: '11' } })).toBe(11);
  });
});
