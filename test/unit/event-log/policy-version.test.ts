/**
 * A log names the version of the policies it was recorded with. That number has to grow when they decide differently, which
 * no hash of a chart shows. So the code of the machines is pinned together with the number, without comments and layout.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { POLICY_VERSION } from '../../../src/event-log/format/entry.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const PINNED = { policyVersion: 3, code: '8adfb00fb7198356' };

const folder = fileURLToPath(new URL('../../../machines/', import.meta.url));
/** Files that decide nothing. */
const WITHOUT = ['index.ts', 'mcp.ts'];

function codeOf(file: string): string {
  const text = readFileSync(`${folder}${file}`, 'utf8');
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/\s+/g, '');
}

describe('the version of the policies', () => {
  it('is checked whenever the code of the machines changes.', () => {
    const files = readdirSync(folder, { encoding: 'utf8', recursive: true })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts') && !WITHOUT.includes(file))
      .toSorted();
    const hash = createHash('sha256');
    for (const file of files) hash.update(`${file}\n${codeOf(file)}\n`);
    const now = { policyVersion: POLICY_VERSION, code: hash.digest('hex').slice(0, 16) };
    expect(
      now,
      `The code of the machines has changed. If a guard, an update or a policy decides otherwise on the same events, raise POLICY_VERSION (src/event-log/format/entry.ts), or the logs of yesterday look as if they had been altered. Then pin this here: ${JSON.stringify(now)}`,
    ).toEqual(PINNED);
  });
});
