/** The steps of a case that starts with a configuration file. */
import { mkdtemp, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fill } from './placeholders.mjs';

/**
 * Opens the host with a copy of the file, so that the file of the kit stays unchanged. With `trust`, it counts as a
 * project file, of which everything or nothing is trusted.
 */
export async function openConfig({ trust }, host) {
  const { file } = host.kase.start;
  const folder = await mkdtemp(join(host.scratch, 'config-'));
  host.configFile = join(folder, basename(file));
  await linkKit(host.folder, folder, basename(file));
  await writeCopy(file, host.configFile, host);
  host.open({
    config: { path: host.configFile, scope: trust === undefined ? 'given' : 'project' },
    ...(trust === 'all' && { trust }),
  });
}

/** Replaces the file atomically, as editors do, and reloads it. */
export async function replaceConfig({ file }, host) {
  if (host.configFile === undefined) throw new Error('no configuration is loaded');
  const next = `${host.configFile}.next`;
  await writeCopy(file, next, host);
  await rename(next, host.configFile);
  await host.troupe.reload();
}

/** Paths in a file are relative to its folder, but the servers are in the folder of the kit. */
async function linkKit(kit, folder, file) {
  const names = await readdir(kit);
  await Promise.all(
    names.filter((name) => name !== file).map((name) => symlink(join(kit, name), join(folder, name))),
  );
}

async function writeCopy(file, to, host) {
  const text = await readFile(resolve(host.folder, file), 'utf8');
  host.seen.isJournaled ||= text.includes('{{journal}}');
  await writeFile(to, fill(text, host.values));
}
