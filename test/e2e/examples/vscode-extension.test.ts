/** The extension in a stub of the editor, and the built extension in its own process. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpStdioServerDefinition } from 'vscode';
import {
  COMMAND,
  PROVIDER_ID,
  registerServers,
} from '../../../docs/examples/vscode-extension/src/register-servers.js';
import { SECTION, SERVER_IDS } from '../../../docs/examples/vscode-extension/src/settings.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { folderWith, temporaryFolder } from './data-folder.js';
import { BUSINESS_DATA, initialize, RawServer, request, toolCall } from './raw-server.js';
import { StandInEditor } from './stand-in-editor.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

useLeakCheck();

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const EXTENSION = join(ROOT, 'docs/examples/vscode-extension');
const MANIFEST = JSON.parse(readFileSync(join(EXTENSION, 'package.json'), 'utf8')) as {
  version: string;
  main: string;
  engines: { vscode: string };
  contributes: {
    mcpServerDefinitionProviders: readonly { id: string }[];
    commands: readonly { command: string }[];
    configuration: { properties: Record<string, { type: string; default: unknown; enum?: unknown[] }> };
  };
};

function begin(extensionPath = EXTENSION, isElectron = false) {
  const editor = new StandInEditor();
  const home = { extensionPath, version: '1.2.3', execPath: process.execPath, isElectron };
  const disposables = registerServers(editor, home);
  const provider = () => editor.providers.get(PROVIDER_ID);
  const offered = () => provider()?.provideMcpServerDefinitions(never) as McpStdioServerDefinition[];
  return { editor, disposables, offered, labels: () => offered().map(({ label }) => label) };
}

const never = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => {} }) };

/** A workspace with the files of the installed package, which are empty. */
function workspaceWithTroupe(): string {
  const folder = temporaryFolder();
  for (const file of ['dist/bundle/src/cli/main.js', 'docs/examples/business-data-server/server.mjs']) {
    const path = join(folder, 'node_modules/mcp-troupe', file);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '');
  }
  return folder;
}

describe('the manifest of the extension', () => {
  it('matches the code, and requires an editor version with the API.', () => {
    const { mcpServerDefinitionProviders, commands, configuration } = MANIFEST.contributes;
    expect(mcpServerDefinitionProviders.map(({ id }) => id)).toEqual([PROVIDER_ID]);
    expect(commands.map(({ command }) => command)).toEqual([COMMAND]);
    expect(configuration.properties).toMatchObject({
      [`${SECTION}.autoRegister`]: { type: 'boolean', default: true },
      [`${SECTION}.registerServerId`]: { type: 'string', default: '', enum: ['', ...SERVER_IDS] },
    });
    expect(MANIFEST.engines.vscode).toBe('^1.101.0');
  });
});

describe('the extension', () => {
  it('offers the example server of its own checkout, and the gateway that the workspace has installed.', () => {
    const workspace = workspaceWithTroupe();
    const { editor, offered } = begin();
    editor.openFolders(workspace);
    expect(offered()).toEqual([
      {
        label: 'Business data',
        command: process.execPath,
        args: [join(ROOT, 'docs/examples/business-data-server/server.mjs'), '--stdio'],
        env: {},
        version: '1.2.3',
      },
      {
        label: 'Troupe',
        command: process.execPath,
        args: [join(workspace, 'node_modules/mcp-troupe/dist/bundle/src/cli/main.js'), 'serve'],
        env: {},
        version: '1.2.3',
        cwd: { fsPath: workspace },
      },
    ]);
    expect(editor.warnings).toEqual([]);
  });

  it('runs the executable of the editor as Node.js if the editor is an Electron app.', () => {
    const { editor, offered } = begin(EXTENSION, true);
    editor.openFolders(workspaceWithTroupe());
    for (const { env } of offered()) expect(env).toEqual({ ELECTRON_RUN_AS_NODE: '1' });
  });

  it('offers the installed servers of a workspace, with a gateway for each folder.', () => {
    const [one, other] = [workspaceWithTroupe(), workspaceWithTroupe()];
    const { editor, labels } = begin('/nowhere/a/b/c');
    editor.openFolders(one, other);
    const nameOf = (path: string) => path.split('/').at(-1);
    expect(labels()).toEqual(['Business data', `Troupe: ${nameOf(one)}`, `Troupe: ${nameOf(other)}`]);
  });

  it('offers only the server that the setting names, and follows changes of the setting.', () => {
    const { editor, labels } = begin('/nowhere/a/b/c');
    editor.openFolders(workspaceWithTroupe());
    const before = editor.changes;
    editor.set(SECTION, 'registerServerId', 'troupe');
    expect(labels()).toEqual(['Troupe']);
    editor.set(SECTION, 'registerServerId', 'business-data');
    expect(labels()).toEqual(['Business data']);
    expect(editor.changes).toBe(before + 2);
    editor.set('editor', 'fontSize', 12);
    expect(editor.changes).toBe(before + 2);
  });

  it('offers no server until the command runs if automatic registration is off.', () => {
    const { editor, labels } = begin('/nowhere/a/b/c');
    editor.openFolders(workspaceWithTroupe());
    editor.set(SECTION, 'autoRegister', false);
    expect(labels()).toEqual([]);
    const before = editor.changes;
    editor.run(COMMAND);
    expect(editor.changes).toBe(before + 1);
    expect(labels()).toEqual(['Business data', 'Troupe']);
    expect(editor.notes).toEqual(['Registered: Business data, Troupe.']);
  });

  it('warns once about a server that it does not find, and again after a change.', () => {
    const { editor, labels } = begin('/nowhere/a/b/c');
    expect([labels(), labels()]).toEqual([[], []]);
    expect(editor.warnings).toEqual([
      expect.stringContaining('npm run vscode:prepublish'),
      expect.stringContaining('npm install mcp-troupe'),
    ]);
    editor.set(SECTION, 'registerServerId', 'troupe');
    labels();
    expect(editor.warnings).toHaveLength(3);
  });

  it.each([['toString'], ['Troupe'], [7]])('warns with the valid ids if the setting is %j.', (id) => {
    const { editor, labels } = begin();
    editor.set(SECTION, 'registerServerId', id);
    expect(labels()).toEqual([]);
    expect(editor.warnings).toEqual([
      `The setting troupeServers.registerServerId is ${JSON.stringify(id)}. It has to be one of business-data, troupe, or empty for all.`,
    ]);
  });

  it('unregisters everything when it is disposed.', () => {
    const { editor, disposables } = begin();
    expect(editor.listeners).toBe(3);
    for (const one of disposables) one.dispose();
    expect(editor.listeners).toBe(0);
    expect(editor.providers.size).toBe(0);
  });
});

describe('the built extension', () => {
  it('loads from the file that the manifest names, and the server that it offers answers a client.', async () => {
    const { folder, main } = build();
    const script = `
      import { activate } from ${JSON.stringify(main)};
      import { providers } from 'vscode';
      const subscriptions = [];
      activate({ extension: { packageJSON: { version: '9' } }, extensionPath: ${JSON.stringify(folder)}, subscriptions });
      const offered = providers[${JSON.stringify(PROVIDER_ID)}].provideMcpServerDefinitions();
      console.log(JSON.stringify({ offered, subscriptions: subscriptions.length }));`;
    writeFileSync(join(folder, 'host.mjs'), script);
    const printed = execFileSync(process.execPath, [join(folder, 'host.mjs')], {
      encoding: 'utf8',
      timeout: WAIT_LIMIT_MS,
    });
    const { offered, subscriptions } = JSON.parse(printed) as {
      offered: readonly McpStdioServerDefinition[];
      subscriptions: number;
    };
    expect(subscriptions).toBe(5);
    expect(offered.map(({ label }) => label)).toEqual(['Business data']);

    const [{ command, args } = { command: '', args: [] }] = offered;
    const server = new RawServer({ command, args });
    expect((await server.ask(initialize())).result).toMatchObject({
      serverInfo: { name: 'business-data-server' },
    });
    expect(await server.ask(toolCall(1, 'describeCategory', { categoryId: 'people' }))).toMatchObject({
      result: { structuredContent: { recordCount: 14 } },
    });
    expect((await server.end()).code).toBe(0);
  });
});

describe('the gateway that the extension offers', () => {
  it('offers a client the tools of the workspace folder once its entry is trusted.', async () => {
    const { editor, offered } = begin();
    const business = { command: process.execPath, args: [BUSINESS_DATA] };
    const workspace = folderWith({ '.mcp.json': JSON.stringify({ mcpServers: { business } }) });
    editor.openFolders(workspace);
    const [, { command, args } = { command: '', args: [] }] = offered();
    const folder = temporaryFolder();
    const home = { HOME: folder, XDG_CONFIG_HOME: folder };

    const waiting = new RawServer({ command, args, cwd: workspace, env: home });
    await waiting.ask(initialize());
    expect((await waiting.ask(request(1, 'tools/list'))).result).toMatchObject({
      tools: [],
      _meta: { 'mcp-troupe/servers': { business: { state: 'configuring', code: 'trust-required' } } },
    });
    expect(await waiting.end()).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('troupe trust business'),
    });

    const trust = [args[0] ?? '', 'trust', 'business', '--yes'];
    execFileSync(command, trust, {
      cwd: workspace,
      env: { ...process.env, ...home },
      stdio: 'ignore',
      timeout: WAIT_LIMIT_MS,
    });
    const trusted = new RawServer({ command, args, cwd: workspace, env: home });
    await trusted.ask(initialize());
    const { result } = await trusted.ask(request(1, 'tools/list'));
    expect(result?.['tools']).toHaveLength(3);
    expect((await trusted.end()).code).toBe(0);
  });
});

/** Builds it as `vscode:prepublish` does, with a stub of the module `vscode`. */
function build(): { folder: string; main: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-vscode-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', EXTENSION, '--outDir', join(folder, 'dist')], {
    timeout: 60_000,
  });
  cpSync(join(EXTENSION, 'package.json'), join(folder, 'package.json'));
  cpSync(join(EXTENSION, '../business-data-server'), join(folder, 'business-data-server'), {
    recursive: true,
  });
  const editor = join(folder, 'node_modules/vscode');
  mkdirSync(editor, { recursive: true });
  writeFileSync(join(editor, 'package.json'), '{ "name": "vscode", "type": "module", "main": "index.js" }');
  writeFileSync(
    join(editor, 'index.js'),
    `const nothing = () => ({ dispose() {} });
    export const providers = {};
    export const lm = { registerMcpServerDefinitionProvider: (id, one) => ((providers[id] = one), nothing()) };
    export const workspace = {
      getConfiguration: () => ({ get: (key, otherwise) => otherwise }),
      onDidChangeConfiguration: nothing,
      onDidChangeWorkspaceFolders: nothing,
    };
    export const window = { showWarningMessage() {}, showInformationMessage() {} };
    export const commands = { registerCommand: nothing };
    export class EventEmitter { event = nothing; fire() {} dispose() {} }
    export class McpStdioServerDefinition {
      constructor(label, command, args, env, version) { Object.assign(this, { label, command, args, env, version }); }
    }`,
  );
  return { folder, main: join(folder, MANIFEST.main) };
}
