/**
 * What an installation of the package brings: installs the tarball into an empty project, and prints the packages and
 * megabytes on disk, in total and by direct dependency.
 *
 *     node tools/package/footprint.mjs [TARBALL] [--write]
 *
 * Packs one itself if no tarball is given; needs `dist` then. Exits with 1 if the installation exceeds a limit, or if a package
 * has an install script. `--write` keeps the figures for the reference (`figures.json`).
 */
import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keepFigures } from './figures.mjs';
import { emptyProject, install, tarballIn } from './install.mjs';

const MAX_PACKAGES = 50;
const MAX_MB = 30;
const OWN = 'node_modules/mcp-troupe';

/** Packages by their place, from the lock file that npm leaves in an installation. */
function installedIn(folder) {
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8'));
  return new Map(Object.entries(packages));
}

/** The place that a dependency of the package at `place` resolves to. */
function resolveFrom(packages, place, name) {
  for (let at = place; ; at = at.slice(0, at.lastIndexOf('/node_modules/'))) {
    const candidate = `${at}/node_modules/${name}`;
    if (packages.has(candidate)) return candidate;
    if (!at.includes('/node_modules/')) break;
  }
  return packages.has(`node_modules/${name}`) ? `node_modules/${name}` : undefined;
}

/** The places that are reached from some places, except through `without`. */
function reached(packages, from, without) {
  const found = new Set(from.filter((place) => place !== without));
  for (const place of found) {
    for (const name of Object.keys(packages.get(place).dependencies ?? {})) {
      const next = resolveFrom(packages, place, name);
      if (next !== undefined && next !== without) found.add(next);
    }
  }
  return found;
}

/** Bytes on disk of a package without the packages inside it. */
function bytesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules') return sum;
    return sum + lstatSync(path).blocks * 512 + (entry.isDirectory() ? bytesOf(path) : 0);
  }, 0);
}

function measure(folder) {
  const packages = installedIn(folder);
  const bytes = new Map([...packages.keys()].map((place) => [place, bytesOf(join(folder, place))]));
  const total = (places) => [...places].reduce((sum, place) => sum + bytes.get(place), 0);
  const all = reached(packages, [OWN]);
  const rows = Object.keys(packages.get(OWN).dependencies).map((name) => {
    const place = resolveFrom(packages, OWN, name);
    const brought = reached(packages, [place]);
    const others = reached(packages, [OWN], place);
    const alone = [...brought].filter((each) => !others.has(each));
    return { name, packages: brought.size, alone: alone.length, mb: toMb(total(alone)) };
  });
  return {
    packages: packages.size,
    mb: toMb(total(packages.keys())),
    own: toMb(bytes.get(OWN)),
    unreached: [...packages.keys()].filter((place) => !all.has(place)),
    scripts: [...packages].filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place),
    dependencies: rows.toSorted((one, other) => other.mb - one.mb || one.name.localeCompare(other.name)),
  };
}

function toMb(bytes) {
  return Math.round(bytes / 10_000) / 100;
}

function print({ packages, mb, own, dependencies }) {
  console.log(`${packages} packages, ${mb} MB on disk, of which mcp-troupe itself ${own} MB.`);
  console.log('\npackages  alone     MB  dependency');
  for (const each of dependencies) {
    const cells = [
      String(each.packages).padStart(8),
      String(each.alone).padStart(6),
      each.mb.toFixed(2).padStart(6),
    ];
    console.log(`${cells.join(' ')}  ${each.name}`);
  }
}

function excessOf({ packages, mb, unreached, scripts }) {
  return [
    ...(packages > MAX_PACKAGES ? [`${packages} packages, of ${MAX_PACKAGES} at most`] : []),
    ...(mb > MAX_MB ? [`${mb} MB, of ${MAX_MB} at most`] : []),
    ...scripts.map((place) => `${place} has an install script`),
    ...unreached.map((place) => `nothing needs ${place}`),
  ];
}

const words = process.argv.slice(2);
const folder = emptyProject('footprint');
try {
  install(
    folder,
    tarballIn(
      folder,
      words.find((word) => !word.startsWith('--')),
    ),
  );
  const measured = measure(folder);
  print(measured);
  if (words.includes('--write')) {
    const { packages, mb, own, dependencies } = measured;
    keepFigures('footprint', { packages, mb, own, dependencies });
  }
  const excess = excessOf(measured);
  for (const each of excess) console.error(`Too much: ${each}.`);
  process.exitCode = excess.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
