/** The command that collects the tools of published servers for the evaluation of the tool search; see `HELP`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { install } from '../zoo/install.mjs';

const HELP = `Usage: node tools/search-evaluation/collect.mjs [--only NAME]... [--folder DIR]

Installs the published MCP servers of tools/zoo/servers.json, reads the tools of each, and writes them to
tools/search-evaluation/catalogue.json, with the package that each list comes from. Servers that cannot be installed or
started keep the list of an earlier run. Needs the npm registry.

  --only NAME   only this server; may be given more than once
  --folder DIR  where the servers are installed and kept; default: troupe-zoo in the system's temporary folder
  --help        print this`;

const CATALOGUE = new URL('catalogue.json', import.meta.url);
/** Time limit of the SDK for an answer. */
const LIMIT_MS = 60_000;

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      folder: { type: 'string', default: join(tmpdir(), 'troupe-zoo') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return print(HELP);
  const all = JSON.parse(await readFile(new URL('../zoo/servers.json', import.meta.url), 'utf8'));
  await mkdir(values.folder, { recursive: true });
  for (const server of all.filter(({ name }) => values.only?.includes(name) ?? true)) {
    try {
      const tools = await toolsOf(await install(server, values.folder));
      await keep({ server: server.name, package: server.package, version: server.version, tools });
      print(`${server.name}: ${tools.length} tools`);
    } catch (error) {
      print(`${server.name}: ${error.message.replaceAll(/\s+/g, ' ').slice(0, 200)}`);
    }
  }
}

async function toolsOf(entry) {
  const client = new Client({ name: 'tool-search', version: '1.0.0' });
  const transport = new StdioClientTransport({ ...entry, stderr: 'ignore' });
  const found = [];
  try {
    await client.connect(transport, { timeout: LIMIT_MS });
    let cursor;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const page = await client.listTools(params, { timeout: LIMIT_MS });
      found.push(...page.tools.map(definitionOf));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  } finally {
    await client.close();
  }
  return found;
}

/** Only what a model is shown. */
function definitionOf({ name, title, description, inputSchema }) {
  return { name, title, description, inputSchema };
}

async function keep(list) {
  const before = JSON.parse(await readFile(CATALOGUE, 'utf8').catch(() => '[]'));
  const others = before.filter(({ server }) => server !== list.server);
  const all = [...others, list].toSorted((a, b) => (a.server < b.server ? -1 : 1));
  await writeFile(CATALOGUE, `[\n${all.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

await main();
