// Many clients of one gateway over HTTP: each calls tools and checks every answer, and some of them reconnect.
// As a program, `node load-sessions.mjs JSON`, it prints the results; clients and gateway then share no event loop.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** Number of calls after which a session ends and another starts. */
const CALLS_OF_A_SESSION = 50;

async function openSession(url, number, asks) {
  const capabilities = asks ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: `client-${number}`, version: '1.0.0' }, { capabilities });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  const errors = [];
  client.onerror = (error) => errors.push(error.message);
  await client.connect(transport);
  const close = async () => {
    await transport.terminateSession();
    await client.close();
  };
  return { client, close, errors };
}

function messageOf(error) {
  return error.cause === undefined ? String(error) : `${error} (${error.cause})`;
}

/** Runs one client until `isOver()`; `note` is called for each call. */
async function actAs(number, { url, servers, isOver, note, asks }) {
  for (let round = 0; !isOver(); round += 1) {
    const session = await openSession(url, number, asks);
    try {
      const { tools } = await session.client.listTools();
      if (tools.length < servers) note({ error: `only ${tools.length} tools are listed` });
      for (let n = 0; n < CALLS_OF_A_SESSION && !isOver(); n += 1) {
        const text = `${number}-${round}-${n}`;
        const name = `mcp__s${(number + n) % servers}__tool_0`;
        const begun = performance.now();
        const { content } = await session.client.callTool({ name, arguments: { text } });
        const isMine = content[0]?.text === JSON.stringify({ text });
        note({
          ms: performance.now() - begun,
          error: isMine ? undefined : `${text} was answered with ${JSON.stringify(content)}`,
        });
      }
    } catch (error) {
      note({ error: messageOf(error) });
    }
    const { errors } = session;
    try {
      await session.close();
    } catch (error) {
      note({ error: `at the end: ${messageOf(error)}` });
    }
    // The client itself aborts its own stream.
    for (const error of errors) if (!/abort/i.test(error)) note({ error });
  }
}

/**
 * @param {{ url: string, sessions: number, servers: number, seconds?: number, callsInAll?: number, asking?: number }} load
 *   `asking` of the sessions answer requests of servers, so they have their own connections.
 * @returns {Promise<{ calls: number, errors: string[], ms: number[] }>}
 */
export async function loadSessions({
  url,
  sessions,
  servers,
  seconds = Infinity,
  callsInAll = Infinity,
  asking = 0,
}) {
  const [ms, errors] = [[], []];
  const end = performance.now() + seconds * 1_000;
  const isOver = () => performance.now() >= end || ms.length >= callsInAll || errors.length > 100;
  const note = ({ ms: time, error }) => {
    if (time !== undefined) ms.push(time);
    if (error !== undefined) errors.push(error);
  };
  const all = Array.from({ length: sessions }, (_, number) =>
    actAs(number, { url, servers, isOver, note, asks: number < asking }),
  );
  await Promise.all(all);
  return { calls: ms.length, errors, ms: ms.toSorted((a, b) => a - b) };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(JSON.stringify(await loadSessions(JSON.parse(process.argv[2]))));
