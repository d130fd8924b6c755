/** Resources, prompts, completions, subscriptions and log levels of real servers, through the public API. */
import { join, resolve } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { filter, firstValueFrom, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createTroupe, type LifecycleEvent, type ServerConfig, type Troupe } from '../../src/index.js';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

const SERVERS = resolve('node_modules/@modelcontextprotocol');
const PATIENCE_MS = 20_000;

function program(name: string, ...args: string[]): ServerConfig {
  return { command: process.execPath, args: [`${SERVERS}/${name}/dist/index.js`, ...args] };
}

/** Resolves with the next matching event. Call it before the action that causes the event. */
function next(troupe: Troupe, fits: (event: LifecycleEvent) => boolean): Promise<LifecycleEvent> {
  return firstValueFrom(troupe.events$.pipe(filter(fits), timeout(PATIENCE_MS)));
}

async function ready(servers: Record<string, ServerConfig>): Promise<Troupe> {
  const troupe = createTroupe({ servers });
  await troupe.start();
  await troupe.settled();
  return troupe;
}

const isUpdate = (event: LifecycleEvent): boolean => event.type === 'resource.updated';

describe('server-everything', () => {
  it('lists resources, templates and prompts, and returns their contents', async () => {
    await using troupe = await ready({ all: program('server-everything') });
    const document = troupe.resources.find(({ name }) => name === 'features.md');
    expect(document).toMatchObject({ server: 'all', mimeType: 'text/markdown', stale: false });
    expect(troupe.status).toMatchObject([{ resourceCount: troupe.resources.length, promptCount: 4 }]);
    const read = await troupe.readResource(document!.uri);
    expect(read.contents).toMatchObject([{ uri: document!.uri, mimeType: 'text/markdown' }]);

    expect(troupe.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'demo://resource/dynamic/blob/{resourceId}',
      'demo://resource/dynamic/text/{resourceId}',
    ]);
    const made = await troupe.readResource('demo://resource/dynamic/text/7');
    expect(JSON.stringify(made.contents)).toContain('Resource 7');

    expect(troupe.prompt('mcp__all__args-prompt')?.arguments?.map(({ name }) => name)).toContain('city');
    const prompt = await troupe.getPrompt('mcp__all__args-prompt', { city: 'Lima' });
    expect(JSON.stringify(prompt.messages)).toContain('Lima');
    await expect(troupe.getPrompt('mcp__all__args-prompt')).rejects.toMatchObject({ code: 'JSON_RPC_ERROR' });
  });

  it('completes variables of templates and arguments of prompts, with the given context', async () => {
    await using troupe = await ready({ all: program('server-everything') });
    const template = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' } as const;
    expect(await troupe.complete(template, { name: 'resourceId', value: '4' })).toMatchObject({
      values: ['4'],
    });
    const prompt = { type: 'ref/prompt', name: 'mcp__all__completable-prompt' } as const;
    const departments = await troupe.complete(prompt, { name: 'department', value: 'S' });
    expect(departments.values).toEqual(['Sales', 'Support']);
    const context = { department: 'Sales' };
    const people = await troupe.complete(prompt, { name: 'name', value: '' }, { context });
    expect(people.values).toEqual(['David', 'Eve', 'Frank']);
  });

  it('reports updates of subscribed resources and its log, even after it was killed', async () => {
    await using troupe = await ready({ all: program('server-everything') });
    const { uri } = troupe.resources[0]!;
    await troupe.subscribe(uri);
    await troupe.setLogLevel('debug');
    const first = next(troupe, isUpdate);
    await troupe.callTool('mcp__all__toggle-subscriber-updates');
    expect(await first).toMatchObject({ server: 'all', generation: 1, uri });

    const back = next(troupe, (event) => event.type === 'connection.ready');
    const restored = next(
      troupe,
      (event) =>
        event.type === 'server.log' &&
        event.generation === 2 &&
        event.stream === 'protocol' &&
        event.message.includes(uri),
    );
    process.kill(troupe.status[0]!.pid!, 'SIGKILL');
    await back;
    expect(await restored).toMatchObject({ message: expect.stringContaining('Subscribe') as unknown });
    const again = next(troupe, isUpdate);
    await troupe.callTool('mcp__all__toggle-subscriber-updates');
    expect(await again).toMatchObject({ generation: 2, uri });

    await troupe.unsubscribe(uri);
  });

  it('lists a resource that it has created', async () => {
    await using troupe = await ready({ all: program('server-everything') });
    const before = troupe.resources;
    const changed = next(
      troupe,
      (event) => event.type === 'catalog.changed' && event.list === 'resources' && event.added.length > 0,
    );
    const args = { name: 'hello.gz', data: 'data:text/plain;base64,aGVsbG8=', outputType: 'resourceLink' };
    await troupe.callTool('mcp__all__gzip-file-as-resource', args);
    await changed;
    const added = troupe.resources.filter((resource) => !before.includes(resource));
    expect(added).toMatchObject([{ name: 'hello.gz' }]);
    const { contents } = await troupe.readResource(added[0]!.uri);
    expect(contents[0]).toHaveProperty('blob');
  });
});

describe('server-memory and server-filesystem', () => {
  it('report updates of a resource, and requests that they do not support are rejected without being sent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-memory-'));
    try {
      const memory = { ...program('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } };
      await using troupe = await ready({ memory, files: program('server-filesystem', folder) });
      expect(troupe.resources).toMatchObject([{ server: 'memory', uri: 'memory://knowledge-graph' }]);
      expect(troupe.prompts).toEqual([]);

      await troupe.subscribe('memory://knowledge-graph');
      const updated = next(troupe, isUpdate);
      const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote a program'] }];
      await troupe.callTool('mcp__memory__create_entities', { entities });
      expect(await updated).toMatchObject({ uri: 'memory://knowledge-graph' });
      const graph = await troupe.readResource('memory://knowledge-graph');
      expect(JSON.stringify(graph.contents)).toContain('wrote a program');

      const files = troupe.connection('files')!;
      for (const request of [
        files.readResource('file:///x'),
        files.getPrompt('x'),
        files.setLogLevel('debug'),
        files.subscribe('file:///x'),
      ]) {
        await expect(request).rejects.toMatchObject({ code: 'UNSUPPORTED', server: 'files' });
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
