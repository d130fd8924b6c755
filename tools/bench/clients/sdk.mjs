/** The bare SDK client as in its documentation, with a larger message limit if a scenario needs it. */
import { openEach } from './open-each.mjs';

export async function load(kind) {
  const [{ Client }, transport, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    kind === 'stdio'
      ? import('@modelcontextprotocol/sdk/client/stdio.js')
      : kind === 'http'
        ? import('@modelcontextprotocol/sdk/client/streamableHttp.js')
        : import('@modelcontextprotocol/sdk/inMemory.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return { Client, ...transport, logMessage: types.LoggingMessageNotificationSchema };
}

/** `library.logMessage` identifies the handler of log messages. */
export function open(library, servers, { onListed = () => {}, largest } = {}) {
  return openEach(servers, async (server) => {
    const mode = { pin: '2026-07-28' };
    const options = server.era === 'new' ? { versionNegotiation: { mode } } : undefined;
    const client = new library.Client({ name: 'bench', version: '1.0.0' }, options);
    let notified = 0;
    client.setNotificationHandler(library.logMessage, () => {
      notified += 1;
    });
    await client.connect(await toTransport(library, server, largest));
    const { tools } = await client.listTools();
    onListed(server.name);
    return {
      tools: tools.length,
      notified: () => notified,
      caller: (name) => (given) => client.callTool({ name, arguments: given }),
      close: () => client.close(),
    };
  });
}

async function toTransport(library, { kind, command, args, url, server }, largest) {
  if (kind === 'http') return new library.StreamableHTTPClientTransport(new URL(url));
  if (kind === 'stdio') {
    const size = largest === undefined ? {} : { maxBufferSize: largest };
    return new library.StdioClientTransport({ command, args, stderr: 'ignore', ...size });
  }
  const [near, far] = library.InMemoryTransport.createLinkedPair();
  await server.connect(far);
  return near;
}
