/** Loads sources as they are, for programs that are no tests: nothing has to be built for them. */
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/**
 * @returns {Promise<{ load(path: string): Promise<Record<string, any>>, close(): Promise<void> }>} paths begin with `/` and are
 *   those below the project
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
