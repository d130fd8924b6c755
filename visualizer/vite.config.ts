/** Builds the page of the inspection server, and with `--mode share` the one file that is sent to others. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { inOneFile } from './in-one-file.js';
import { notices } from './notices.js';

const inFolder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig(({ mode }) => {
  const isShared = mode === 'share';
  return {
    root: inFolder('.'),
    base: './',
    plugins: isShared ? [inOneFile()] : [notices()],
    build: {
      outDir: inFolder('../dist/visualizer'),
      emptyOutDir: !isShared,
      target: 'es2022',
      modulePreload: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2_000,
      assetsInlineLimit: isShared ? Number.MAX_SAFE_INTEGER : 0,
      rolldownOptions: { input: inFolder(isShared ? 'share.html' : 'index.html') },
    },
    worker: { format: 'iife', rolldownOptions: { output: { name: 'worker' } } },
  };
});
