/** The command in a version of Node that cannot run it. */
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { OLDEST_NODE, whyTooOld } from '../../../src/cli/node-version.js';

describe('the version of Node', () => {
  it('is the one that the package requires.', () => {
    expect(manifest.engines.node).toBe(`>=${OLDEST_NODE}`);
  });

  it.each(['18.20.8', '20.11.1', '20.18.3'])('%s is too old.', (version) => {
    expect(whyTooOld(version)).toContain(version);
  });

  it.each(['20.19.0', '20.20.2', '22.0.0', '26.10.0'])('%s is new enough.', (version) => {
    expect(whyTooOld(version)).toBeUndefined();
  });
});
