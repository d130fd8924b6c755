import { resolve } from 'node:path';

const common = { mode: 'production', target: 'node20', entry: './host.mjs', performance: false };
const path = resolve('out');

export default ({ module = false }) =>
  module
    ? {
        ...common,
        experiments: { outputModule: true },
        output: { path, filename: 'host.mjs', module: true, chunkFormat: 'module' },
      }
    : { ...common, output: { path, filename: 'host.cjs', chunkFilename: '[name].cjs' } };
