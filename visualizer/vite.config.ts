/** Builds the page of the inspection server. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { IN_THE_PAGE } from '../tools/package/bundled.mjs';
import { notices } from '../tools/package/notices.js';
import { compressAssets } from './compress-assets.js';

const inFolder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: inFolder('.'),
  base: './',
  plugins: [notices(IN_THE_PAGE), compressAssets()],
  build: {
    outDir: inFolder('../dist/visualizer'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000,
    assetsInlineLimit: 0,
    rolldownOptions: { input: inFolder('index.html') },
  },
  worker: { format: 'iife', rolldownOptions: { output: { name: 'worker' } } },
  experimental: {
    // Addresses count from the page and not from the script: a page in one file may have no address to count from.
    renderBuiltUrl: (name, { hostType }) =>
      hostType === 'js' ? { runtime: JSON.stringify(`./${name}`) } : { relative: true },
  },
});
