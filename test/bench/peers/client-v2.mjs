/** The second major version of the SDK's client. */
import { openEach } from '../clients/open-each.mjs';

export async function load(kind) {
  const [library, stdio] = await Promise.all([
    import('@modelcontextprotocol/client'),
    kind === 'stdio' ? import('@modelcontextprotocol/client/stdio') : {},
  ]);
  return { ...library, ...stdio };
}

export function open(library, servers, { onListed = () => {}, largest } = {}) {
  return openEach(servers, async (server) => {
    const client = new library.Client({ name: 'bench', version: '1.0.0' });
    let notified = 0;
    client.setNotificationHandler('notifications/message', () => {
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
