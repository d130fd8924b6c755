/** Replaces every script and style sheet of the built page by `NAME.br`, which the inspection server serves under its name. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { Plugin } from 'vite';

const compress = promisify(brotliCompress);
const IS_COMPRESSED = /\.(?:js|css)$/;

export function compressAssets(): Plugin {
  return {
    name: 'compress-assets',
    writeBundle: {
      order: 'post',
      async handler({ dir = '' }) {
        const names = await readdir(dir, { recursive: true });
        const assets = names.filter((name) => IS_COMPRESSED.test(name)).map((name) => join(dir, name));
        await Promise.all(assets.map(compressed));
      },
    },
  };
}

async function compressed(asset: string): Promise<void> {
  await writeFile(`${asset}.br`, await compress(await readFile(asset)));
  await rm(asset);
}
