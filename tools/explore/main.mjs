/** See `main.mjs --help`. Bundles the charts and the tool from their sources, then runs them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';

const folder = mkdtempSync(join(tmpdir(), 'troupe-explore-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

await build({
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: fileURLToPath(new URL('command.ts', import.meta.url)),
    outDir: folder,
    emptyOutDir: false,
    minify: false,
    rolldownOptions: { output: { entryFileNames: 'explore.mjs' } },
  },
});
const { main } = await import(pathToFileURL(join(folder, 'explore.mjs')));
process.exitCode = main(process.argv.slice(2));
