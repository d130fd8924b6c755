/** Replaces every script and style sheet of the built page by `NAME.gz`, which the inspection server serves as `NAME`. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const compress = promisify(gzip);

export function compressAssets(): Plugin {
  return {
    name: 'compress-assets',
    writeBundle: {
      order: 'post',
      async handler({ dir = '' }) {
        const names = await readdir(dir, { recursive: true });
        const assets = names.filter((name) => /\.(?:js|css)$/.test(name)).map((name) => join(dir, name));
        await Promise.all(assets.map(compressed));
      },
    },
  };
}

async function compressed(asset: string): Promise<void> {
  await writeFile(`${asset}.gz`, await compress(await readFile(asset), { level: 9 }));
  await rm(asset);
}
