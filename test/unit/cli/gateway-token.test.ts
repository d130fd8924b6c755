import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { gatewayToken } from '../../../src/cli/gateway-token.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-token-'));
  file = join(folder, 'state', 'gateway-token');
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const token = async (): Promise<string> => (await gatewayToken(join(folder, 'state'))).token;

describe('the token of the gateways of a user', () => {
  it('is made once, kept for its user alone, and hard to guess', async () => {
    const tokens = new Set(await Promise.all([token(), token(), token()]));
    expect(tokens.size).toBe(1);
    const [made = ''] = tokens;
    expect(Buffer.from(made, 'base64url')).toHaveLength(32);
    expect(await gatewayToken(join(folder, 'state'))).toEqual({ token: made, file });
    expect([statSync(file).mode & 0o777, readFileSync(file, 'utf8').trim()]).toEqual([0o600, made]);
  });

  it.each<[string, () => void]>([
    ['others can read', () => chmodSync(file, 0o644)],
    ['holds something else', () => writeFileSync(file, 'secret')],
    ['is empty', () => writeFileSync(file, '')],
    [
      'is a link',
      () => {
        writeFileSync(join(folder, 'other'), readFileSync(file));
        rmSync(file);
        symlinkSync(join(folder, 'other'), file);
      },
    ],
  ])('is replaced if its file %s', async (_, spoil) => {
    const former = await token();
    spoil();
    const next = await token();
    expect(next).not.toBe(former);
    expect([statSync(file).mode & 0o777, await token()]).toEqual([0o600, next]);
  });

  it('is refused if it cannot be kept', async () => {
    writeFileSync(join(folder, 'state'), '');
    await expect(token()).rejects.toThrow(join(folder, 'state'));
  });
});
