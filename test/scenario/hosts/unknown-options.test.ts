/** A misspelt option of any method is refused with the name that was meant, as the options of `createTroupe` are. */
import { describe, expect, it } from 'vitest';
import { toTools as toAiTools } from '../../../src/adapters/ai-sdk.js';
import { runToolCalls } from '../../../src/adapters/anthropic.js';
import { liveTools, toTools } from '../../../src/adapters/langchain.js';
import { runChatToolCalls, runResponsesToolCalls } from '../../../src/adapters/openai.js';
import { createFileTokenStore } from '../../../src/auth/stores/file-token-store.js';
import { createKeychainTokenStore } from '../../../src/auth/stores/keychain-token-store.js';
import { createFileCatalogStore } from '../../../src/catalog/cache-store.js';
import { createGateway } from '../../../src/gateway/gateway.js';
import { serveStdio } from '../../../src/gateway/stdio/serve-stdio.js';
import { createFileReviewStore } from '../../../src/review/review-store.js';
import { discoverServers } from '../../../src/servers/discover.js';
import type { Connection } from '../../../src/servers/connection.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { renderResult } from '../../../src/runtime/results.js';
import { createFileTrustStore } from '../../../src/trust/trust-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, useTroupes } from '../../support/test-troupe.js';

const WAIT = { singal: AbortSignal.abort() } as never;
const LIMITS = { timeout: 5 } as never;
const REF = { type: 'ref/prompt', name: 'p' } as const;
const ARGUMENT = { name: 'a', value: '' };
const NAMED = { server: 'a', tool: 'b', maxCharacter: 1_000 } as never;

type Calls<T> = readonly (readonly [string, (on: T) => unknown, meant: string])[];

const OF_TROUPE: Calls<Troupe> = [
  ['start', (troupe) => troupe.start(WAIT), 'signal'],
  ['listed', (troupe) => troupe.listed(WAIT), 'signal'],
  ['settled', (troupe) => troupe.settled(WAIT), 'signal'],
  ['reload', (troupe) => troupe.reload(undefined, WAIT), 'signal'],
  ['callTool', (troupe) => troupe.callTool('mcp__a__echo', {}, { timeoutms: 5 } as never), 'timeoutMs'],
  ['callTool', (troupe) => troupe.callTool('unknown', {}, { onprogres: 5 } as never), 'onProgress'],
  ['readResource', (troupe) => troupe.readResource('a:b', { servers: 'a' } as never), 'server'],
  ['subscribe', (troupe) => troupe.subscribe('a:b', { servers: 'a' } as never), 'server'],
  ['unsubscribe', (troupe) => troupe.unsubscribe('a:b', { servers: 'a' } as never), 'server'],
  ['getPrompt', (troupe) => troupe.getPrompt('p', {}, WAIT), 'signal'],
  ['complete', (troupe) => troupe.complete(REF, ARGUMENT, WAIT), 'signal'],
  ['setLogLevel', (troupe) => troupe.setLogLevel('debug', WAIT), 'signal'],
  ['renderResult', (troupe) => troupe.renderResult({ content: [] }, NAMED), 'maxCharacters'],
  ['record', (troupe) => troupe.record({ target: 'x', bodie: true } as never), 'bodies'],
  ['inspect', (troupe) => troupe.inspect({ prot: 0 } as never), 'port'],
  ['searchTools', (troupe) => troupe.searchTools('x', { limits: 3 } as never), 'limit'],
  ['view', (troupe) => troupe.view({ server: ['a'] } as never), 'servers'],
  ['callTool', (troupe) => troupe.view({}).callTool('mcp__a__echo', {}, LIMITS), ''],
  ['getPrompt', (troupe) => troupe.view({}).getPrompt('p', {}, LIMITS), ''],
];

const OF_CONNECTION: Calls<Connection> = [
  ['start', (connection) => connection.start(WAIT), 'signal'],
  ['retry', (connection) => connection.retry(WAIT), 'signal'],
  ['restart', (connection) => connection.restart(WAIT), 'signal'],
  ['stop', (connection) => connection.stop(WAIT), 'signal'],
  ['refresh', (connection) => connection.refresh(WAIT), 'signal'],
  ['ready', (connection) => connection.ready(WAIT), 'signal'],
  ['trust', (connection) => connection.trust({ hahs: '' } as never), 'hash'],
  ['finishAuth', (connection) => connection.finishAuth('1', WAIT), 'signal'],
  ['callTool', (connection) => connection.callTool('echo', {}, { headers: {} } as never), ''],
  ['readResource', (connection) => connection.readResource('a:b', LIMITS), ''],
  ['subscribe', (connection) => connection.subscribe('a:b', LIMITS), ''],
  ['unsubscribe', (connection) => connection.unsubscribe('a:b', LIMITS), ''],
  ['getPrompt', (connection) => connection.getPrompt('p', {}, LIMITS), ''],
  ['complete', (connection) => connection.complete(REF, ARGUMENT, LIMITS), ''],
  ['setLogLevel', (connection) => connection.setLogLevel('debug', LIMITS), ''],
];

const OF_FUNCTIONS: Calls<Troupe> = [
  ['renderResult', () => renderResult({ content: [] }, NAMED), 'maxCharacters'],
  ['discoverServers', () => discoverServers({ configs: 'x' } as never), 'config'],
  ['createFileCatalogStore', () => createFileCatalogStore({ folders: 'x' } as never), 'folder'],
  ['createFileReviewStore', () => createFileReviewStore({ folders: 'x' } as never), 'folder'],
  ['createFileTrustStore', () => createFileTrustStore({ folders: 'x' } as never), 'folder'],
  ['createFileTokenStore', () => createFileTokenStore({ folders: 'x' } as never), 'folder'],
  ['createKeychainTokenStore', () => createKeychainTokenStore({ lock: {} } as never), 'locks'],
  ['toTools', (troupe) => toAiTools(troupe, { needApproval: true } as never), 'needsApproval'],
  ['toTools', (troupe) => toTools(troupe, { show: true } as never), 'shows'],
  ['liveTools', (troupe) => liveTools(troupe, { nmae: 'x' } as never), 'name'],
  ['runChatToolCalls', (troupe) => runChatToolCalls(troupe, {} as never, WAIT), 'signal'],
  ['runResponsesToolCalls', (troupe) => runResponsesToolCalls(troupe, [], WAIT), 'signal'],
  ['runToolCalls', (troupe) => runToolCalls(troupe, [], WAIT), 'signal'],
  ['serveStdio', () => serveStdio({} as never, { ouptut: process.stderr } as never), 'output'],
  ['connect', () => createGateway({}).connect({} as never, { servers: 'a' } as never), 'server'],
];

const messageOf = async (call: () => unknown): Promise<string> => {
  try {
    await call();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('an unknown option', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const refusedBy = async (method: string, meant: string, call: () => unknown): Promise<void> => {
    const message = await messageOf(call);
    expect(message).toMatch(new RegExp(`^${method}: .*is not known here`));
    if (meant !== '') expect(message).toContain(`did you mean '${meant}'?`);
  };

  it('is refused by each method of a troupe and of its views, and nothing is sent.', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.settled();
    const before = server.of('tools/call').length;
    for (const [method, call, meant] of OF_TROUPE) await refusedBy(method, meant, () => call(troupe));
    expect(server.of('tools/call')).toHaveLength(before);
  });

  it('is refused by each method of a connection, and changes nothing.', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.settled();
    const connection = troupe.connection('a')!;
    for (const [method, call, meant] of OF_CONNECTION) await refusedBy(method, meant, () => call(connection));
    expect(connection.status).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('is refused by functions.', async () => {
    const { troupe } = make();
    const before = troupe.status;
    for (const [method, call, meant] of OF_FUNCTIONS) await refusedBy(method, meant, () => call(troupe));
    expect(troupe.status).toEqual(before);
  });

  it('that is undefined counts as absent.', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await expect(troupe.start({ other: undefined } as never)).resolves.toMatchObject({ ready: ['a'] });
  });

  it.each([null, 7, 'signal'])('list that is %j is refused.', async (options) => {
    const { troupe } = make({});
    await expect(troupe.start(options as never)).rejects.toThrow('start: the options must be an object');
  });
});
