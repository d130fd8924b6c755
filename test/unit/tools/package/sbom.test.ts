import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from '../../../../tools/import-graph.mjs';
import { packageManifest } from '../../../architecture/package-manifest.js';

interface Component {
  readonly name: string;
  readonly licenses?: readonly unknown[];
  readonly 'bom-ref': string;
}

describe('the bill of materials', () => {
  let bill: {
    readonly bomFormat: string;
    readonly metadata: { readonly component: Component };
    readonly components: readonly Component[];
  };
  beforeAll(() => {
    const options = { cwd: PROJECT, encoding: 'utf8', maxBuffer: 64 * 1_024 * 1_024 } as const;
    bill = JSON.parse(execFileSync(process.execPath, ['tools/package/sbom.mjs'], options)) as typeof bill;
  }, 60_000);

  it('describes the package and everything that it depends on.', () => {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'mcp-troupe' } } });
    const names = new Set(bill.components.map(({ name }) => name));
    expect(Object.keys(packageManifest().dependencies).filter((name) => !names.has(name))).toEqual([]);
    expect(names.has('vitest')).toBe(false);
  });

  it('names the bundled packages and their licenses.', () => {
    const bundled = bill.components.filter(({ 'bom-ref': ref }) => ref.endsWith('#bundled'));
    expect(bundled.map(({ name }) => name).toSorted()).toEqual([
      '@modelcontextprotocol/sdk',
      'elkjs',
      'pkce-challenge',
      'preact',
      'xstate',
      'zod',
    ]);
    expect(JSON.stringify(bundled)).toContain('EPL-2.0 OR GPL-3.0-or-later');
  });

  it('agrees with the license and the origin in the manifest.', () => {
    const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Readonly<
      Record<string, unknown>
    >;
    expect(manifest).toMatchObject({
      license: 'MIT AND (EPL-2.0 OR GPL-3.0-or-later)',
      publishConfig: { provenance: true, access: 'public' },
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:/) },
    });
    expect(bill.metadata.component.licenses).toEqual([{ expression: manifest['license'] }]);
  });
});
