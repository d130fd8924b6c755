/**
 * A random secret, placed anywhere in an entry, appears in no output, whatever the server does with it.
 *
 * Covered are the secret itself, its JSON encodings (with or without escapes for non-ASCII characters), its URL encodings
 * (of a component, a form or a `URL` object, in upper and lower case), and the base64 of `user:password`. Other encodings
 * are not covered: Troupe cannot find a secret that a server encodes on purpose.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { escapeTemplate } from '../../../src/config/entry/template.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { BEHAVIORS, startHttpParrot, type Behavior } from './anywhere-http-parrot.js';
import { anySecret, asciiSecret, keyOfLines, type Secret } from './anywhere-secret.js';
import { outputOfCommand, outputOfDiscovery, outputOfTroupe, type Output } from './anywhere-output.js';

const PARROT = fileURLToPath(new URL('../../support/parrot.mjs', import.meta.url));
const VARIABLE = 'TROUPE_TEST_SECRET';
const REFERENCE = `\${${VARIABLE}}`;
const RUNS = 2;

interface Placed {
  readonly config: ServerConfig;
  /** Other forms of the secret that must not appear. */
  readonly also?: readonly string[];
}

type Place<TRest extends unknown[]> = (secret: string, ...rest: TRest) => Placed;

const literal = (secret: string): string => escapeTemplate(secret, 'plain');

/** Places of a secret in the entry of a program. */
const IN_PROGRAMS: Readonly<Record<string, Place<[behavior: string]>>> = {
  'as a value of env': (secret, behavior) => program(behavior, [], { PARROT_KEY: literal(secret) }),
  'after a scheme in env': (secret, behavior) =>
    program(behavior, [], { PARROT_KEY: `Bearer ${literal(secret)}`, PARROT_TOKEN: literal(secret) }),
  'by a variable in env': (_, behavior) => program(behavior, [], { PARROT_KEY: `key=${REFERENCE}` }),
  'by a variable in the arguments': (_, behavior) =>
    program(behavior, [`--key=${REFERENCE}`, '$' + VARIABLE]),
  'as a default in the arguments': (secret, behavior) =>
    program(behavior, [`--key=\${PARROT_UNSET:-${inBraces(secret)}}`]),
  'after a flag in the arguments': (secret, behavior) => program(behavior, ['--api-key', inArgument(secret)]),
  'in a flag': (secret, behavior) => program(behavior, [`--token=${inArgument(secret)}`]),
  'in a header among the arguments': (secret, behavior) =>
    program(behavior, ['--header', `Authorization: Bearer ${inArgument(secret)}`]),
  'as the password of an address in the arguments': (secret, behavior) =>
    program(behavior, [`postgresql://app:${encodeURIComponent(secret)}@db/prod`]),
  'as the password of an address in env': (secret, behavior) =>
    program(behavior, [], { PARROT_URL: `postgresql://app:${encodeURIComponent(secret)}@db/prod` }),
  'as a default in env': (secret, behavior) =>
    program(behavior, [], { PARROT_KEY: `\${PARROT_UNSET:-${inBraces(secret)}}` }),
};

/** In an argument a dollar sign may begin a variable, and a text that begins with a hyphen is an option. */
function inArgument(secret: string): string {
  return literal(`x${secret.replace(/[$`]/g, '')}`);
}

/** Places of a secret in the entry of an address. */
const IN_ADDRESSES: Readonly<Record<string, Place<[url: string]>>> = {
  'as a header': (secret, url) => remote(url, { headers: { 'X-Api-Key': literal(secret) } }),
  'as a token in a header': (secret, url) =>
    remote(url, { headers: { Authorization: `Bearer ${literal(secret)}` } }),
  'among the parts of a header': (secret, url) =>
    remote(url, { headers: { 'X-Cookie': `theme=dark; session="${literal(secret)}"` } }),
  'as the password of a header': (secret, url) => {
    const pair = Buffer.from(`ada:${secret}`).toString('base64');
    return { ...remote(url, { headers: { Authorization: `Basic ${pair}` } }), also: [pair] };
  },
  'as the user of the address': (secret, url) => withCredentials(url, secret, 'x'),
  'as the password of the address': (secret, url) => withCredentials(url, 'ada', secret),
  'in the query': (secret, url) => remote(`${url}?key=${encodeURIComponent(secret)}&more=1`),
  'in the query as it is': (secret, url) => remote(`${url}?key=${literal(secret.replace(/[#&]/g, ''))}`),
  'in the path': (secret, url) => remote(`${url}/s/${encodeURIComponent(`Q7zzz9${secret}Q7zzz9`)}/mcp`),
  'by a variable in the query': (_, url) => remote(`${url}?key=${REFERENCE}`),
  'by a variable in the path': (_, url) => remote(`${url}/${REFERENCE}`),
  'by a variable in a header': (_, url) => remote(url, { headers: { Authorization: `Bearer ${REFERENCE}` } }),
  'in env, for a header': (secret, url) =>
    remote(url, { env: { KEY: literal(secret) }, headers: { 'X-Key': 'Token ${KEY}' } }),
  'as a default of a header': (secret, url) =>
    remote(url, { headers: { 'X-Key': `\${PARROT_UNSET:-${inBraces(secret)}}` } }),
};

function program(behavior: string, args: readonly string[], env: Record<string, string> = {}): Placed {
  return { config: { command: process.execPath, args: [PARROT, behavior, ...args], env } };
}

function remote(url: string, fields: Partial<ServerConfig> = {}): Placed {
  return { config: { type: 'http', url, ...fields } as ServerConfig };
}

function withCredentials(url: string, user: string, password: string): Placed {
  const address = url.replace('//', `//${encodeURIComponent(user)}:${encodeURIComponent(password)}@`);
  return { ...remote(address), also: [Buffer.from(`${user}:${password}`).toString('base64')] };
}

/** The text of a default, which cannot contain braces. */
function inBraces(secret: string): string {
  return literal(secret.replace(/[{}$]/g, ''));
}

function expectNoLeak(outputs: readonly Output[], { core }: Secret, also: readonly string[] = []): void {
  const leaks = outputs.flatMap(({ where, text }) =>
    [core, ...also].flatMap((secret) => {
      const at = text.indexOf(secret);
      return at === -1 ? [] : [`${where}: …${text.slice(Math.max(0, at - 80), at + 80)}…`];
    }),
  );
  expect([...new Set(leaks)].slice(0, 5)).toEqual([]);
}

/** Calls tools that repeat everything, and lets the server exit if it can. */
async function callEverything(troupe: Troupe, recordError: (error: unknown) => void): Promise<void> {
  const connection = troupe.connection('parrot');
  const tools = troupe.tools.filter(({ server }) => server === 'parrot').slice(0, 2);
  for (const tool of [...tools.map((known) => known.tool), 'refuse', 'die']) {
    await connection?.callTool(tool, {}, { timeoutMs: 5_000 }).catch(recordError);
  }
  await troupe.callTool('mcp__parrot__unknown', {}).catch(recordError);
}

describe('a secret', () => {
  useInotify();
  useLeakCheck();
  useCrashWatch();
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-secret-'));
  });
  afterEach(() => {
    delete process.env[VARIABLE];
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function allOutput(config: ServerConfig, secret: Secret): Promise<readonly Output[]> {
    process.env[VARIABLE] = secret.text;
    const byTroupe = await outputOfTroupe(config, {}, callEverything);
    return [...byTroupe, ...(await outputOfDiscovery(config)), ...(await outputOfCommand(config, folder))];
  }

  it.each(Object.entries(IN_PROGRAMS))(
    '%s of a program appears in no output',
    async (where, place) => {
      const hasLines = where === 'as a value of env' || where.includes('variable');
      const secrets = hasLines ? fc.oneof(anySecret, keyOfLines) : anySecret;
      await fc.assert(
        fc.asyncProperty(secrets, fc.constantFrom('polite', 'refusing'), async (secret, behavior) => {
          const { config, also } = place(secret.text, behavior);
          expectNoLeak(await allOutput(config, secret), secret, also);
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );

  it.each(Object.entries(IN_ADDRESSES))(
    '%s of an address appears in no output',
    async (_, place) => {
      await fc.assert(
        fc.asyncProperty(asciiSecret, fc.constantFrom<Behavior>(...BEHAVIORS), async (secret, behavior) => {
          const parrot = await startHttpParrot(behavior);
          try {
            const { config, also } = place(secret.text, parrot.url);
            expectNoLeak(await allOutput(config, secret), secret, also);
          } finally {
            await parrot.close();
          }
        }),
        { numRuns: RUNS },
      );
    },
    60_000,
  );
});
