/** A client of the SDK's first version with a scripted server behind it. */
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import { createSessionClient } from '../../src/protocol/session-client.js';
import type { ProtocolClient } from '../../src/protocol/protocol-client.js';
import { FakeTransport, type FakeTransportOptions } from './fake-transport.js';
import { ScriptedServer, type Script } from './scripted-server.js';

export interface OpenedClient {
  readonly client: ProtocolClient;
  readonly server: ScriptedServer;
  readonly transport: FakeTransport;
  readonly oddities: string[];
  readonly notifications: string[];
}

interface Ends {
  readonly server: ScriptedServer;
  readonly transport: FakeTransport;
}

function makeEnds(script: Script, options: FakeTransportOptions): Ends {
  const server = new ScriptedServer(script);
  return { server, transport: new FakeTransport({ ...options, peer: server }) };
}

/** Starts to open the session without waiting for it. */
export function startClient(
  script: Script = {},
  signal?: AbortSignal,
  options: FakeTransportOptions = {},
  { server, transport }: Ends = makeEnds(script, options),
  prepare: (client: ProtocolClient) => void = () => {},
): OpenedClient & { readonly opening: Promise<ServerIdentity> } {
  const client = createSessionClient({ clientInfo: { name: 'test', version: '0' }, capabilities: {} });
  const oddities: string[] = [];
  const notifications: string[] = [];
  client.owner = {
    onoddity: (message) => oddities.push(message),
    onnotification: (method) => notifications.push(method),
  };
  transport.onclose = () =>
    client.abandon(transport.ended ?? { code: 'connection-lost', message: 'The transport closed.' });
  prepare(client);
  const opening = transport
    .start()
    .then(() => client.open(transport, signal ?? new AbortController().signal));
  opening.catch(() => {});
  return { client, server, transport, oddities, notifications, opening };
}

export async function openClient(
  script: Script = {},
  options: FakeTransportOptions = {},
  ends?: Ends,
  prepare?: (client: ProtocolClient) => void,
): Promise<OpenedClient & { readonly identity: ServerIdentity }> {
  const opened = startClient(script, undefined, options, ends, prepare);
  const identity = await opened.opening;
  await opened.server.whenReceived('notifications/initialized');
  return { ...opened, identity };
}
