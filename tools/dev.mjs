/**
 * Runs the command from the sources, without a build.
 *
 *     npm run dev -- check --config docs/examples/demo.mcp.json
 *
 * `up --inspect` and `inspect` serve the page that `npm run build` has built.
 */
import { loadSources } from './load-sources.mjs';

const { load, close } = await loadSources();
try {
  await load('/src/cli/main.ts');
} finally {
  await close();
}
