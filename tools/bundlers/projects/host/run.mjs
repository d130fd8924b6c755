/** A host of ten lines, and two questions whose answers depend on what a bundler made of the package. */
import { createKeychainTokenStore, createTroupe } from 'mcp-troupe';

const FILES = ['stdio.json', 'stdio.toml', 'http.yaml'];
const TOOLS = ['mcp__json__whoami', 'mcp__toml__whoami', 'mcp__yaml__whoami'];

export async function run(folder) {
  const troupe = createTroupe({ config: FILES.map((file) => ({ path: `${folder}/${file}`, trust: 'all' })) });
  const { ready } = await troupe.start();
  const answers = [];
  for (const tool of TOOLS) answers.push(await callOf(troupe, tool));
  const page = await pageOf(troupe);
  await troupe.close();
  return { ready, answers, page, keychain: await keychainProblem() };
}

async function callOf(troupe, tool) {
  try {
    const { content } = await troupe.callTool(tool, {});
    return content[0].text;
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

async function pageOf(troupe) {
  const { url } = await troupe.inspect();
  const response = await fetch(new URL('/', url));
  return response.ok ? 'served' : (await response.json()).error;
}

async function keychainProblem() {
  try {
    await createKeychainTokenStore().read({ server: 'https://a.example', client: '' });
    return 'none';
  } catch (error) {
    return error.message;
  }
}
