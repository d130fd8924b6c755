/** Runs a client scenario with a troupe whose only entry is the address of the server of the scenario. */
import { createMemoryTokenStore, createTroupe } from 'mcp-troupe';
import { filter, firstValueFrom, timeout } from 'rxjs';
import { employee, robotWithKey, robotWithSecret, withSecret, workload } from './known-clients.mjs';

const LIMIT_MS = 40_000;
const MAX_TRIES = 3;
const SERVER = 'subject';
/** Whether the scenario is one of the era without sessions. */
const isNew = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28';
const REDIRECT = 'http://localhost:3000/callback';
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';

/** Special scenarios. In the others, those with `auth/` include a sign-in, and the first tool is called. */
const SCENARIOS = {
  initialize: { work: async () => {} },
  'elicitation-sep1034-client-defaults': {
    handlers: { elicitation: { form: () => ({ action: 'accept', content: {} }) } },
  },
  'json-schema-2020-12-preservation': { work: returnSchema },
  'sep-2322-client-request-state': {
    handlers: { elicitation: { form: () => ({ action: 'accept', content: { confirmed: true } }) } },
    work: callAll,
  },
  'http-standard-headers': { work: useAll },
  'http-custom-headers': { work: callGiven },
  'http-invalid-tool-headers': { work: callAll },
  'json-schema-ref-no-deref': { work: async () => {} },
  'auth/basic-cimd': { person: 'at the listener' },
  'auth/metadata-var1': { person: 'answers' },
  'auth/metadata-var2': { person: 'at the listener' },
  'auth/metadata-var3': { person: 'at the listener' },
  'auth/pre-registration': { client: withSecret },
  'auth/client-credentials-basic': { client: robotWithSecret },
  'auth/client-credentials-jwt': { client: robotWithKey },
  'auth/cross-app-access-complete-flow': { client: employee },
  'auth/enterprise-managed-authorization': { client: employee },
  'auth/wif-jwt-bearer': { client: workload },
};

/** How the redirect of the browser reaches Troupe. */
const PERSONS = {
  'at the listener': { onAuthorizationUrl: ({ url: asked }) => void visit(asked) },
  answers: { redirectUrl: REDIRECT, onAuthorizationUrl: ({ url: asked }) => agree(asked) },
  'finishes later': { redirectUrl: REDIRECT },
};

async function visit(asked) {
  const page = await fetch(asked);
  await page.text();
}

async function agree(asked) {
  const { headers } = await fetch(asked, { redirect: 'manual' });
  return headers.get('location');
}

async function authOf({ person, client }, url, given) {
  return {
    store: createMemoryTokenStore(),
    clientMetadataUrl: DOCUMENT,
    ...PERSONS[person],
    ...(client && { client: await client(url, given) }),
  };
}

async function answerLater(asked, connection) {
  try {
    await connection.finishAuth(await agree(asked));
  } catch (error) {
    // With a status, the answer was good, and the server wants another sign-in.
    if (error.failure?.http === undefined) refuse(error);
  }
}

const isAsked = ({ type, url }) => type === 'connection.authRequired' && url !== undefined;
/** Resolves when the last sign-in is over. */
let signedIn = Promise.resolve();
/** Rejects when the answer of a person was refused. */
let refuse;
const refused = new Promise((_, reject) => (refuse = reject));
refused.catch(() => {});

function finishLater(troupe) {
  troupe.events$.pipe(filter(isAsked)).subscribe(({ url }) => {
    signedIn = answerLater(url, troupe.connection(SERVER));
  });
}

/** Resolves when the connection is ready, even if a sign-in is needed first. */
async function ready(connection, events$) {
  const isSettled = ({ type }) => ['connection.ready', 'connection.failed'].includes(type);
  if (!['ready', 'failed'].includes(connection.state)) {
    await firstValueFrom(events$.pipe(filter(isSettled), timeout(LIMIT_MS)));
  }
  await connection.ready();
}

async function callFirst({ tools, events$ }, connection) {
  if (tools.length === 0) return;
  for (let tries = 1; ; tries += 1) {
    const asked = firstValueFrom(events$.pipe(filter(isAsked), timeout(LIMIT_MS)));
    asked.catch(() => {});
    try {
      return await connection.callTool(tools[0].tool, { a: 2, b: 3 }, { timeoutMs: LIMIT_MS });
    } catch (error) {
      // More scopes are needed: the call was not sent, and works after the user has consented.
      if (tries >= MAX_TRIES || error.code !== 'NOT_READY') throw error;
      await asked;
      await signedIn;
      await ready(connection, events$);
    }
  }
}

/** With the argument that a tool of one of the scenarios requires. */
async function callAll({ tools }, connection) {
  for (const { tool } of tools) await connection.callTool(tool, { region: 'here' }, { timeoutMs: LIMIT_MS });
}

async function useAll(troupe, connection) {
  await callAll(troupe, connection);
  await connection.refresh();
  for (const { uri } of troupe.resources) await troupe.readResource(uri);
  for (const { name } of troupe.prompts) await troupe.getPrompt(name);
}

async function callGiven(_, connection, { toolCalls }) {
  for (const { name, arguments: given } of toolCalls)
    await connection.callTool(name, given, { timeoutMs: LIMIT_MS });
}

async function returnSchema({ tools }, connection) {
  const { inputSchema } = tools.find(({ tool }) => tool === 'json_schema_2020_12_tool');
  await connection.callTool('json_schema_echo', { schema: inputSchema }, { timeoutMs: LIMIT_MS });
}

/** Rejects if the scenario cannot be completed. `given` is its data about the client. */
export async function play(scenario, url, given) {
  const asked = { person: 'finishes later', work: callFirst, ...SCENARIOS[scenario] };
  const troupe = createTroupe({
    servers: {
      [SERVER]: { type: 'http', url, policy: { maxAttempts: 1 }, ...(isNew && { protocol: 'new' }) },
    },
    cache: false,
    ...(asked.handlers && { handlers: asked.handlers }),
    ...(scenario.startsWith('auth/') && { auth: await authOf(asked, url, given) }),
  });
  troupe.events$.subscribe((event) => console.error(JSON.stringify(event)));
  if (asked.person === 'finishes later') finishLater(troupe);
  try {
    await troupe.start();
    const connection = troupe.connection(SERVER);
    await Promise.race([ready(connection, troupe.events$), refused]);
    await asked.work(troupe, connection, given);
  } finally {
    await troupe.close();
  }
}
