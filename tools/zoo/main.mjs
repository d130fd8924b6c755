/** The command that compares Troupe with the plain SDK client on published servers; see `HELP`. */
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { install } from './install.mjs';
import { compare, inWords } from './compare.mjs';
import { withSdkClient, withTroupe } from './clients.mjs';

const HELP = `Usage: npm run zoo -- [--only NAME]... [--folder DIR] [--list]

Installs published MCP servers by many authors in exact versions (tools/zoo/servers.json), starts each with the plain SDK
client and with Troupe, and compares what they get. Needs the npm registry and a built package.

  --only NAME   only this server; may be given more than once
  --folder DIR  where the servers are installed and kept; default: troupe-zoo in the system's temporary folder
  --list        print the list and start nothing
  --help        print this

Exits with 0 if Troupe is never worse, with 1 if it is worse with a server, with 2 for a wrong command line.`;

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      folder: { type: 'string', default: join(tmpdir(), 'troupe-zoo') },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return print(HELP);
  const all = JSON.parse(await readFile(new URL('servers.json', import.meta.url), 'utf8'));
  const unknown = values.only?.find((name) => all.every((server) => server.name !== name));
  if (unknown !== undefined) throw new TypeError(`there is no server '${unknown}' in the list; see --list`);
  const servers = all.filter(({ name }) => values.only?.includes(name) ?? true);
  if (values.list)
    return print(servers.map(({ name, package: id, version }) => `${name}: ${id}@${version}`).join('\n'));
  await mkdir(values.folder, { recursive: true });
  const counts = { equal: 0, better: 0, worse: 0, 'not installed': 0 };
  for (const [index, server] of servers.entries()) {
    const { verdict, details } = await visit(server, values.folder);
    counts[verdict] += 1;
    print(`[${index + 1}/${servers.length}] ${server.name} ${server.version}: ${verdict}; ${details}`);
  }
  print(
    Object.entries(counts)
      .map(([verdict, count]) => `${count} ${verdict}`)
      .join(', '),
  );
  if (counts.worse > 0) process.exitCode = 1;
}

async function visit(server, folder) {
  let entry;
  try {
    entry = await install(server, folder);
  } catch (error) {
    return { verdict: 'not installed', details: error.message };
  }
  const sdk = await withSdkClient(entry);
  const troupe = await withTroupe(server.name, entry);
  return {
    verdict: compare(sdk, troupe),
    details: `SDK client: ${inWords(sdk)}; Troupe: ${inWords(troupe)}`,
  };
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
