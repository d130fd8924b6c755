import { describe, expect, it } from 'vitest';
import { platformOf } from '../../../src/platform/platform.js';
import { replaceFile } from '../../../src/storage/stored-file.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

/** Fails that often with that code, and then moves. */
function busy(times: number, code: string) {
  const waits: number[] = [];
  const moved: string[] = [];
  let left = times;
  return {
    waits,
    moved,
    terms: {
      move: async (from: string, to: string) => {
        left -= 1;
        if (left >= 0) throw Object.assign(new Error('cannot'), { code });
        moved.push(`${from} > ${to}`);
      },
      wait: async (ms: number) => void waits.push(ms),
    },
  };
}

describe('replacing a file on Windows', () => {
  const platform = platformOf('win32');

  it.each(['EPERM', 'EACCES', 'EBUSY'])(
    'is tried again while another process has it open (%s)',
    async (code) => {
      const { waits, moved, terms } = busy(3, code);
      await replaceFile('new', 'old', { platform, ...terms });
      expect([moved, waits]).toEqual([['new > old'], [5, 10, 20]]);
    },
  );

  it('fails after two seconds', async () => {
    const { waits, terms } = busy(Infinity, 'EPERM');
    await expect(replaceFile('new', 'old', { platform, ...terms })).rejects.toMatchObject({ code: 'EPERM' });
    expect(waits.reduce((sum, ms) => sum + ms)).toBe(2_000);
  });

  it('fails at once for another reason', async () => {
    const { waits, terms } = busy(Infinity, 'ENOENT');
    await expect(replaceFile('new', 'old', { platform, ...terms })).rejects.toMatchObject({ code: 'ENOENT' });
    expect(waits).toEqual([]);
  });
});

it('replacing a file fails at once where an open file can be replaced.', async () => {
  const { waits, terms } = busy(Infinity, 'EPERM');
  const platform = platformOf('linux');
  await expect(replaceFile('new', 'old', { platform, ...terms })).rejects.toMatchObject({ code: 'EPERM' });
  expect(waits).toEqual([]);
});
