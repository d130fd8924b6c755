/** Loads the sources without a build, for programs that are not tests. */
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/**
 * @returns {Promise<{ load(path: string): Promise<Record<string, any>>, close(): Promise<void> }>} paths start with `/` and are
 *   relative to the project
 */
export async function loadSources() {
  const server = await createServer({
    root: fileURLToPath(new URL('../', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, watch: null, ws: false, hmr: false },
    optimizeDeps: { noDiscovery: true },
  });
  return { load: (path) => server.ssrLoadModule(path), close: () => server.close() };
}
