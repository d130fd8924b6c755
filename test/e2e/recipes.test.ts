/** Runs the programs of the page of recipes, each with a stand-in for its framework and a driver that acts as the framework does. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { stepsOf } from '../support/guide-page.js';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = join(ROOT, 'docs/guide/recipes.md');
const QUICK = { command: process.execPath, args: [join(ROOT, 'test/support/quick-server.mjs')] };
const CONFIG = JSON.stringify({ mcpServers: { quick: QUICK } });
const LIMIT_MS = 30_000;

/** Runs the driver in a folder with the programs of the page and with these files. Returns the lines that it prints. */
async function drive(driver: string, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'troupe-recipes-')));
  onTestFinished(() => rm(home, { recursive: true }));
  const folder = join(home, 'project');
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await symlink(ROOT, join(folder, 'node_modules/mcp-troupe'));
  const programs = stepsOf(await readFile(PAGE, 'utf8')).flatMap((step) =>
    step.kind === 'file' ? [[step.name, step.text] as const] : [],
  );
  for (const [name, text] of [...programs, ...Object.entries(files), ['driver.mjs', driver] as const]) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const options = { cwd: folder, env, timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const { stdout } = await promisify(execFile)(process.execPath, ['driver.mjs'], options);
  return stdout.trim().split('\n');
}

/** A package with one module. */
function standIn(name: string, text: string): Readonly<Record<string, string>> {
  return {
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, type: 'module', exports: './index.js' }),
    [`node_modules/${name}/index.js`]: text,
  };
}

it('The main process of Electron answers its windows, and quits when its servers are gone.', async () => {
  const electron = standIn(
    'electron',
    `import { EventEmitter } from 'node:events';
    class App extends EventEmitter {
      getPath() { return process.cwd(); }
      async whenReady() {}
      quit() {
        let isHeld = false;
        this.emit('before-quit', { preventDefault: () => { isHeld = true; } });
        console.log(isHeld ? 'held' : 'quit');
      }
    }
    export const app = new App();
    export const handlers = {};
    export const ipcMain = { handle: (channel, handler) => { handlers[channel] = handler; } };`,
  );
  const driver = `
    import { app, handlers } from 'electron';
    await import('./main.mjs');
    console.log(JSON.stringify((await handlers.tools()).map(({ name }) => name)));
    console.log(JSON.stringify((await handlers.call({}, 'mcp__quick__echo', { message: 'hello' })).content));
    app.quit();`;

  const printed = await drive(driver, { ...electron, 'mcp.json': CONFIG });

  expect(printed).toEqual([
    expect.stringContaining('mcp__quick__echo'),
    expect.stringContaining('hello'),
    'held',
    'quit',
  ]);
});

it('The extension of VS Code starts nothing that the user has not consented to, and ends with the window.', async () => {
  const vscode = standIn(
    'vscode',
    `export const commands = { registerCommand: () => ({ dispose() {} }) };
    export const window = { createOutputChannel: () => ({ info: (line) => console.log(line) }) };
    export const workspace = { isTrusted: true, workspaceFolders: [{ uri: { fsPath: process.cwd() } }] };`,
  );
  const driver = `
    import { activate, deactivate } from './extension.mjs';
    await activate({ subscriptions: [] });
    await deactivate();`;

  const printed = await drive(driver, { ...vscode, '.mcp.json': CONFIG });

  expect(printed).toContain('connection.trustRequired quick');
  expect(printed).not.toContain('connection.ready quick');
});

it('The function calls tools of a gateway, which keeps no session for it.', async () => {
  const driver = `
    import { createGateway, serveHttp } from 'mcp-troupe/gateway';
    const gateway = createGateway({ servers: { quick: ${JSON.stringify(QUICK)} } });
    const service = await serveHttp(gateway, { token: 'a-secret' });
    await gateway.start();
    Object.assign(process.env, { GATEWAY_URL: String(service.url), GATEWAY_TOKEN: 'a-secret' });
    const { handler } = await import('./function.mjs');
    for (const message of ['one', 'two']) {
      console.log(JSON.stringify(await handler({ tool: 'mcp__quick__echo', args: { message } })));
    }
    console.log(service.sessions);
    process.exit();`;

  const printed = await drive(driver, {});

  expect(printed).toEqual([expect.stringContaining('one'), expect.stringContaining('two'), '0']);
});
