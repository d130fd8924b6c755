/** Troupe's protocol client alone: no supervision, no checks, no events. Built from the sources, because it is no part of the API. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { openEach } from './open-each.mjs';

const PARTS = [
  "export { createClient } from './src/protocol/protocol-client.ts';",
  "export { createInProcessTransport } from './src/transports/in-process.ts';",
].join('\n');

export async function load() {
  const { outputFiles } = await build({
    stdin: { contents: PARTS, resolveDir: fileURLToPath(new URL('../../../', import.meta.url)) },
    ...{ bundle: true, write: false, format: 'esm', platform: 'node', target: 'node20' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

export function open({ createClient, createInProcessTransport }, servers) {
  return openEach(servers, async ({ server, era = 'old' }) => {
    const transport = createInProcessTransport(server);
    const client = await createClient(era, {
      clientInfo: { name: 'bench', version: '1.0.0' },
      capabilities: {},
    });
    await transport.start();
    await client.open(transport, new AbortController().signal);
    const { tools } = await client.request('tools/list', {});
    return {
      tools: tools.length,
      caller: (name) => (given) => client.request('tools/call', { name, arguments: given }),
      close: async () => {
        client.abandon({ code: 'connection-lost', message: 'The bench is over.' });
        await transport.close();
      },
    };
  });
}
