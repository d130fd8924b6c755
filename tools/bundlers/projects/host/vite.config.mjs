export default {
  ssr: { noExternal: true },
  build: { ssr: 'host.mjs', outDir: 'out', rolldownOptions: { output: { entryFileNames: '[name].mjs' } } },
};
