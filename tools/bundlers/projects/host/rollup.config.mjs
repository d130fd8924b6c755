import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import nodeResolve from '@rollup/plugin-node-resolve';

export default {
  input: 'host.mjs',
  output: { dir: 'out', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
  plugins: [nodeResolve({ preferBuiltins: true }), commonjs(), json()],
};
