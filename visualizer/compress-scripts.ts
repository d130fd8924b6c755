/** Replaces every script of the built page by `NAME.js.gz`, which the inspection server serves under its name. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const compress = promisify(gzip);

export function compressScripts(): Plugin {
  return {
    name: 'compress-scripts',
    writeBundle: {
      order: 'post',
      async handler({ dir = '' }) {
        const names = await readdir(dir, { recursive: true });
        const scripts = names.filter((name) => name.endsWith('.js')).map((name) => join(dir, name));
        await Promise.all(scripts.map(compressed));
      },
    },
  };
}

async function compressed(script: string): Promise<void> {
  await writeFile(`${script}.gz`, await compress(await readFile(script), { level: 9 }));
  await rm(script);
}
