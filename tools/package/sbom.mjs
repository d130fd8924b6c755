/**
 * Prints the software bill of materials of the package as CycloneDX JSON: what an installation brings, from the lock file,
 * and the packages that are bundled into its code and its inspection page.
 *
 *     npm run --silent sbom > troupe.cdx.json
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IN_THE_CODE, IN_THE_PAGE } from './bundled.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(project, path), 'utf8');

const { packages } = JSON.parse(read('package-lock.json'));

const isForDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');

/** The package and its dependencies, as `npm` knows them from the lock file alone. Its `--omit dev` leaves out too much. */
function installed() {
  const args = ['--sbom-format', 'cyclonedx', '--package-lock-only', '--workspaces=false'];
  const options = { cwd: project, encoding: 'utf8', maxBuffer: 64 * 1_024 * 1_024 };
  const all = JSON.parse(execFileSync('npm', ['sbom', ...args], options));
  const components = all.components.filter((component) => !isForDevelopment(component));
  const known = new Set([all.metadata.component, ...components].map((component) => component['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => known.has(each)) }));
  return { ...all, components, dependencies };
}

/** The bundled packages, from the same list. */
function bundled() {
  return [...IN_THE_CODE, ...IN_THE_PAGE].map((name) => {
    const { version, license } = packages[`node_modules/${name}`];
    return {
      'bom-ref': `${name}@${version}#bundled`,
      type: 'library',
      name,
      version,
      scope: 'required',
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      licenses: [{ expression: license }],
      properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }],
    };
  });
}

const { name, license } = JSON.parse(read('package.json'));
const bill = installed();
// npm takes the name of the folder.
Object.assign(bill.metadata.component, { name, licenses: [{ expression: license }] });
bill.components.push(...bundled());
console.log(JSON.stringify(bill, null, 2));
