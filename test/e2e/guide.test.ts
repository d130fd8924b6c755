/**
 * Runs the pages with commands step by step and compares the output with the page.
 *
 * Every page has its own home folder, shown as `/home/ada`, with a project in it. The reader has the installed servers,
 * an MCP server with a sign-in, and a browser that consents to everything.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { useLeakCheck } from '../support/leak-check.js';
import { asPattern, stepsOf } from '../support/guide-page.js';

useLeakCheck();

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCOPE = join(ROOT, 'node_modules/@modelcontextprotocol');
const SIGN_IN_SERVER = join(SCOPE, 'sdk/dist/esm/examples/server/simpleStreamableHttp.js');
const SHOWN_HOME = '/home/ada';
/** The addresses of the MCP server and its authorization server in the text, in this order. */
const SHOWN_PLACES = ['localhost:3000', 'localhost:3001'];
const PAGES = [
  'guide/configuration',
  'guide/trust',
  'guide/sign-in',
  'guide/recovery',
  'guide/containment',
  'guide/testing',
  'guide/agent-loop',
  'guide/review',
  'guide/gateway',
  'guide/tool-search',
  'guide/typed-tools',
  'guide/code-mode',
  'guide/logging',
  'guide/telemetry',
  'guide/migrating',
  'guide/xstate',
  'guide/troubleshooting',
  'reference/observables',
];
const RUN_TYPESCRIPT = new URL('../support/run-typescript.mjs', import.meta.url);
/** The packages that a reader has installed. */
const FRAMEWORKS = [
  ...[
    'ai',
    'langchain',
    'openai',
    '@anthropic-ai',
    '@langchain',
    'quickjs-emscripten',
    'rxjs',
    'xstate',
    '@opentelemetry',
  ],
];
const PAGE_LIMIT_MS = 120_000;

interface Reader {
  readonly home: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** The real addresses, in the same order. */
  readonly places: readonly string[];
}

describe('the guide', () => {
  it.each(PAGES)(
    'shows the real output of the commands on the page %s.',
    async (name) => {
      const page = readFileSync(join(ROOT, `docs/${name}.md`), 'utf8');
      const signal = AbortSignal.timeout(PAGE_LIMIT_MS - 10_000);
      const reader = await makeReader(page, signal);
      for (const step of stepsOf(page)) {
        if (step.kind === 'file') {
          writeFileSync(join(reader.project, step.name), here(step.text, reader));
          continue;
        }
        const lines = step.commands.map(({ line }) => here(line, reader));
        const outputs = await run(lines, reader, signal);
        for (const [index, { line, output }] of step.commands.entries()) {
          const printed = shown(outputs[index] ?? '', reader);
          expect(asPattern(output).test(printed) ? output : printed, line).toBe(output);
        }
      }
    },
    PAGE_LIMIT_MS,
  );
});

async function makeReader(page: string, signal: AbortSignal): Promise<Reader> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-guide-')));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const project = join(home, 'project');
  const bin = join(home, 'bin');
  for (const folder of [bin, join(project, 'node_modules')]) mkdirSync(folder, { recursive: true });
  symlinkSync(ROOT, join(project, 'node_modules/mcp-troupe'));
  symlinkSync(SCOPE, join(project, 'node_modules/@modelcontextprotocol'));
  for (const name of FRAMEWORKS)
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  const command = `exec '${process.execPath}' '${join(ROOT, 'dist/bundle/src/cli/main.js')}' "$@"\n`;
  writeFileSync(join(bin, 'troupe'), `#!/bin/sh\n${command}`, { mode: 0o755 });
  const unset = { XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined, FORCE_COLOR: undefined };
  const env = { ...process.env, ...unset, HOME: home, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const hasTypescript = /^\$ node \S+\.ts$/m.test(page);
  if (hasTypescript) Object.assign(env, { NODE_OPTIONS: `--import=${RUN_TYPESCRIPT.href}` });
  const signsIn = page.includes(SHOWN_PLACES[0] ?? '');
  return { home, project, env, places: signsIn ? await startSignInServer(signal) : [] };
}

/** The example server of the SDK, with an authorization server that consents by itself. */
async function startSignInServer(signal: AbortSignal): Promise<readonly string[]> {
  const [port, authPort] = [await freePort(), await freePort()];
  const env = { ...process.env, MCP_PORT: String(port), MCP_AUTH_PORT: String(authPort) };
  const child = spawn(process.execPath, [SIGN_IN_SERVER, '--oauth'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const isOver = once(child, 'exit');
  const end = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  onTestFinished(async () => {
    signal.removeEventListener('abort', end);
    end();
    await isOver;
  });
  let printed = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += String(chunk);
    if (printed.includes(`listening on port ${port}`) && printed.includes(`listening on port ${authPort}`))
      break;
  }
  signal.throwIfAborted();
  child.stdout.resume();
  return [`localhost:${port}`, `localhost:${authPort}`];
}

/** Runs the lines in one shell; returns the output of each. */
async function run(
  lines: readonly string[],
  reader: Reader,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const mark = `--- end of a command of ${process.pid} ---`;
  const script = lines.map((line) => `${line}\n_code=$?; echo '${mark}'; (exit $_code)`).join('\n');
  const shell = spawn('sh', ['-c', `exec 2>&1\n${script}`], {
    cwd: reader.project,
    env: reader.env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const isOver = once(shell, 'close');
  const endGroup = (): void => void process.kill(-Number(shell.pid), 'SIGKILL');
  signal.addEventListener('abort', endGroup);
  const visited = new Set<string>();
  let printed = '';
  try {
    for await (const chunk of shell.stdout) {
      printed += String(chunk);
      for (const [url] of printed.matchAll(/http:\/\/localhost:\d+\/authorize\S+(?=\s)/g)) {
        if (visited.has(url)) continue;
        visited.add(url);
        void visit(url, signal);
      }
    }
    await isOver;
  } finally {
    signal.removeEventListener('abort', endGroup);
  }
  signal.throwIfAborted();
  return printed.split(mark).map((output) => output.trim());
}

/** Opens an address as a browser does. A failed request ends the visit. */
async function visit(url: string, signal: AbortSignal): Promise<void> {
  await fetch(url, { signal, headers: { connection: 'close' } }).then(
    (response) => response.text(),
    () => {},
  );
}

function here(text: string, { places }: Reader): string {
  return places.reduce((before, place, index) => before.replaceAll(SHOWN_PLACES[index] ?? '', place), text);
}

function shown(output: string, { home, places }: Reader): string {
  const withHome = output.replaceAll(home, SHOWN_HOME);
  return places.reduce(
    (before, place, index) => before.replaceAll(place, SHOWN_PLACES[index] ?? ''),
    withHome,
  );
}
