/** Without a framework, its adapter throws an error that names it; all other entry points load. */
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL(import.meta.resolve('mcp-troupe/package.json')), 'utf8'));
const FRAMEWORKS = {
  './ai-sdk': 'ai',
  './langchain': '@langchain/core',
  './fleet-redis': '@redis/client',
  './fleet-nats': '@nats-io/jetstream',
};

for (const subpath of Object.keys(manifest.exports)) {
  if (subpath.endsWith('.json')) continue;
  const specifier = manifest.name + subpath.slice(1);
  const framework = FRAMEWORKS[subpath];
  if (framework === undefined || isInstalled(framework)) await load(specifier);
  else await refuseToLoad(specifier, framework);
}

function isInstalled(name) {
  try {
    return import.meta.resolve(`${name}/package.json`) !== '';
  } catch {
    return false;
  }
}

async function load(specifier) {
  const names = Object.keys(await import(specifier));
  if (names.length === 0) throw new Error(`'${specifier}' has no exports`);
}

async function refuseToLoad(specifier, framework) {
  try {
    await import(specifier);
  } catch (error) {
    if (String(error).includes(`'${framework}'`)) return;
    throw error;
  }
  throw new Error(`'${specifier}' loads without '${framework}'`);
}
