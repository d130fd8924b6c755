/** Two servers behind the gateway offer resources under the same URI. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useGateways, type TestClient } from '../../support/gateway-rig.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';

const URIS = ['north+note://one', 'south+note://one'];

describe('A URI that two servers offer', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  async function twoServers(): Promise<{
    readonly north: AskingUpstream;
    readonly south: AskingUpstream;
    readonly ada: TestClient;
    readonly remove: (server: string) => Promise<void>;
  }> {
    const [north, south] = [new AskingUpstream({ tools: [tool('link')] }), new AskingUpstream()];
    const { gateway, client } = make({ servers: { north: north.entry(), South: south.entry() } });
    await gateway.start();
    const ada = await client('Ada');
    return { north, south, ada, remove: (server) => gateway.troupe.remove(server) };
  }

  it('is listed once for each server, with its name before the scheme', async () => {
    const { ada } = await twoServers();
    const { resources } = await ada.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['troupe://status', ...URIS.toReversed()]);
    const { resourceTemplates } = await ada.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).toSorted()).toEqual([
      'north+note://{id}/part',
      'south+note://{id}/part',
    ]);
  });

  it('leads to the server that it names, which gets its own URI', async () => {
    const { ada, north, south } = await twoServers();
    for (const uri of [...URIS, 'south+note://7/part']) {
      const { contents } = await ada.client.readResource({ uri });
      expect(contents.map((content) => content.uri)).toEqual([uri]);
    }
    const received = [north, south].map((server) => server.of('resources/read').map(({ uri }) => uri));
    expect(received).toEqual([['note://one'], ['note://one', 'note://7/part']]);
    const argument = { name: 'id', value: '7' };
    await ada.client.complete({ ref: { type: 'ref/resource', uri: 'south+note://{id}/part' }, argument });
    expect(south.of('completion/complete')).toMatchObject([{ ref: { uri: 'note://{id}/part' } }]);
  });

  it('is refused without the name of a server, and the error gives both', async () => {
    const { ada, north, south } = await twoServers();
    for (const uri of ['note://one', 'note://7/part']) {
      const error = await ada.client.readResource({ uri }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: -32_602 });
      expect(String(error)).toContain(`north+${uri}`);
      expect(String(error)).toContain(`south+${uri}`);
    }
    expect([...north.of('resources/read'), ...south.of('resources/read')]).toEqual([]);
  });

  it('is reported as updated under the address that the client subscribed to', async () => {
    const { ada, north, south } = await twoServers();
    await ada.client.subscribeResource({ uri: 'south+note://one' });
    expect([north, south].map((server) => server.of('resources/subscribe'))).toMatchObject([
      [],
      [{ uri: 'note://one' }],
    ]);
    for (const { connections } of [north, south])
      await connections[0]?.server.sendResourceUpdated({ uri: 'note://one' });
    await ada.whenNotified('notifications/resources/updated');
    expect(ada.of('notifications/resources/updated')).toEqual([{ uri: 'south+note://one' }]);
    await ada.client.unsubscribeResource({ uri: 'south+note://one' });
    expect(south.of('resources/unsubscribe')).toMatchObject([{ uri: 'note://one' }]);
  });

  it('is qualified in links and contents of results', async () => {
    const { ada } = await twoServers();
    const { content } = (await ada.client.callTool({ name: 'mcp__north__link' })) as CallToolResult;
    expect(content).toEqual([
      { type: 'resource_link', uri: 'north+note://one', name: 'one' },
      { type: 'resource_link', uri: 'other://two', name: 'two' },
      { type: 'resource', resource: { uri: 'north+note://one', text: 'text' } },
    ]);
  });

  it('loses the name when only one server is left, and is found under both addresses', async () => {
    const { ada, north, remove } = await twoServers();
    await remove('South');
    await ada.whenNotified('notifications/resources/list_changed');
    const { resources } = await ada.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['troupe://status', 'note://one']);
    for (const uri of ['note://one', 'north+note://one']) await ada.client.readResource({ uri });
    expect(north.of('resources/read')).toMatchObject([{ uri: 'note://one' }, { uri: 'note://one' }]);
  });
});
