/** An empty project for one case, its servers, and what they leave behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyProject, install } from '../package/install.mjs';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
export const inFolder = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Where `npm` links the programs of the packages that a case uses. */
export function programOf(project, quick, name) {
  if (name === 'node') return process.execPath;
  return join(quick ? PROJECT : project.folder, 'node_modules', '.bin', name);
}

/** The version of the first package of a case. */
export function versionOf(project, quick, [name]) {
  if (name === undefined) return process.versions.node;
  const manifest = join(quick ? PROJECT : project.folder, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

/** The packages of quick cases are those of this project. */
export function makeWorkshop({ packages, type = 'module' }, { tarball, quick }, files) {
  const folder = emptyProject('bundler');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  cpSync(files, folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type }));
  try {
    // The servers use the SDK.
    install(folder, tarball, '@modelcontextprotocol/sdk', ...(quick ? [] : packages));
    if (quick) for (const name of packages) link(folder, name);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove };
}

function link(folder, name) {
  const place = join(folder, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules', name), place);
}

/** Starts the HTTP server of a project and writes the three configurations into a folder. */
export async function openServers(project, folder) {
  const program = join(project.folder, 'server.mjs');
  const server = spawn(process.execPath, [program, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(server.stdout.setEncoding('utf8'), 'data');
  const args = JSON.stringify([program]);
  const command = JSON.stringify(process.execPath);
  const texts = {
    'stdio.json': `{ /* a comment */ "mcpServers": { "json": { "command": ${command}, "args": ${args} } } }`,
    'stdio.toml': `[mcp_servers.toml]\ncommand = ${command}\nargs = ${args}`,
    'http.yaml': `mcpServers:\n  yaml:\n    url: http://127.0.0.1:${port.trim()}/mcp`,
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  return async () => {
    const hasExited = once(server, 'exit');
    server.kill();
    await hasExited;
  };
}

/** Command lines of the servers over stdio that still run. */
export function leftovers(project) {
  const program = join(project.folder, 'server.mjs');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
    .filter((line) => line.includes(program) && !line.includes('--http'));
}

function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
