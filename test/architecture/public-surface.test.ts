/**
 * The public surface, as literals. A change here is a change for users and needs an entry in CHANGELOG.md.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { CONNECTION_COMMANDS } from '../../machines/connection/connection.events.js';
import { FAILURE_CODES } from '../../machines/policy/failure.js';
import { MANAGER_COMMANDS, TROUPE_PHASES } from '../../machines/manager/manager.events.js';
import { managerMachine } from '../../machines/manager/manager.machine.js';
import { CONNECTION_STATES } from '../../machines/connection/connection.states.js';
import { PROJECT } from '../../tools/import-graph.mjs';
import { packageManifest, type EntryConditions } from './package-manifest.js';
import { ENTRY_POINTS } from './public-names.js';

interface ExportedNames {
  readonly types: readonly string[];
  /** Number of `export * from`, which would export names that nobody has chosen. */
  readonly wildcards: number;
}

function readSource(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}

function exportedNames(text: string): ExportedNames {
  const entries = parseSync('index.ts', text).module.staticExports.flatMap((statement) => statement.entries);
  return {
    types: entries
      .flatMap(({ isType, exportName }) => (isType && exportName.name ? [exportName.name] : []))
      .toSorted(),
    wildcards: entries.filter(({ exportName }) => exportName.name === null).length,
  };
}

async function valuesOf(target: string): Promise<string[]> {
  const built = join(PROJECT, 'dist', `${target}.js`);
  if (!existsSync(built)) throw new Error(`${built} is missing. Run \`npm run build\`.`);
  return Object.keys((await import(pathToFileURL(built).href)) as object).toSorted();
}

/** The literals of `readonly type: '…'` in the union of all events. */
function eventTypes(text: string): string[] {
  const found = new Set<string>();
  new Visitor({
    TSPropertySignature: ({ key, typeAnnotation }) => {
      if (key.type !== 'Identifier' || key.name !== 'type') return;
      const type = typeAnnotation?.typeAnnotation;
      if (type?.type === 'TSLiteralType' && type.literal.type === 'Literal')
        found.add(String(type.literal.value));
    },
  }).visit(parseSync('event.ts', text).program);
  return [...found].toSorted();
}

/** Class name to the literal of its `readonly code = '…'`. */
function errorCodes(text: string): Record<string, unknown> {
  const codes: Record<string, unknown> = {};
  let className = '';
  new Visitor({
    ClassDeclaration: ({ id }) => {
      className = id?.name ?? '';
    },
    PropertyDefinition: ({ key, value }) => {
      if (key.type === 'Identifier' && key.name === 'code' && value?.type === 'Literal')
        codes[className] = value.value;
    },
  }).visit(parseSync('errors.ts', text).program);
  return codes;
}

/** Only a program that can load no module with `require`, such as Jest, gets the second copy; of a fleet there is none. */
function conditionsOf(target: string): EntryConditions {
  const module = { types: `./dist/${target}.d.ts`, default: `./dist/bundle/${target}.js` };
  return {
    import: module,
    'module-sync': module,
    module: module.default,
    bun: module.default,
    ...(target.includes('fleet')
      ? { default: module }
      : {
          require: { types: `./dist/${target}.d.cts`, default: `./dist/commonjs/${target}.cjs` },
          default: module.default,
        }),
  };
}

describe('the package', () => {
  it('has the expected entry points, each built from the source of the same name.', () => {
    const { exports } = packageManifest();
    const built = ENTRY_POINTS.map(({ subpath, target }) => [subpath, conditionsOf(target)]);
    expect(exports).toEqual({ ...Object.fromEntries(built), './package.json': './package.json' });
  });

  it.each(ENTRY_POINTS)(
    "exports the expected values and types from '$subpath', each by name.",
    async ({ target, values, types }) => {
      expect(
        exportedNames(`export * from './a.js'; export { type B, c }; export type { A } from 'a';`),
      ).toEqual({
        types: ['A', 'B'],
        wildcards: 1,
      });
      expect(exportedNames(readSource(`${target}.ts`))).toEqual({ types, wildcards: 0 });
      expect(await valuesOf(target)).toEqual(values);
    },
  );

  it('installs one command, whose shebang runs it with Node.', () => {
    expect(packageManifest().bin).toEqual({ troupe: './dist/bundle/src/cli/main.js' });
    expect(readSource('src/cli/main.ts').split('\n')[0]).toBe('#!/usr/bin/env node');
  });
});

describe('the public names', () => {
  it('include these states of a connection.', () => {
    expect(CONNECTION_STATES).toEqual([
      'configuring',
      'launching',
      'handshaking',
      'ready',
      'reconnecting',
      'failed',
      'shuttingDown',
      'stopped',
    ]);
  });

  it('include these commands to a connection.', () => {
    expect(CONNECTION_COMMANDS).toEqual([
      'connection.start',
      'connection.stop',
      'connection.retry',
      'connection.restart',
      'connection.refresh',
      'connection.reload',
      'trust.granted',
      'trust.denied',
    ]);
  });

  it('include these phases of a troupe and commands to it.', () => {
    expect(TROUPE_PHASES).toEqual(['idle', 'reading', 'starting', 'running', 'closing', 'closed']);
    expect(Object.keys(managerMachine.states['phase']?.states ?? {})).toEqual(TROUPE_PHASES);
    expect(MANAGER_COMMANDS).toEqual([
      'manager.open',
      'manager.start',
      'manager.add',
      'network.changed',
      'manager.stop',
    ]);
  });

  it('include these lifecycle events.', () => {
    expect(
      eventTypes(`type A = { readonly type: 'b.c' } | ({ readonly type: 'a.b' } & X) | { kind: 'no' };`),
    ).toEqual(['a.b', 'b.c']);
    expect(eventTypes(readSource('src/lifecycle/event.ts'))).toEqual([
      'call.finished',
      'call.progress',
      'call.started',
      'catalog.changed',
      'connection.added',
      'connection.authRequired',
      'connection.authSettled',
      'connection.failed',
      'connection.lost',
      'connection.ready',
      'connection.rejected',
      'connection.removed',
      'connection.retrying',
      'connection.state',
      'connection.stopped',
      'connection.trustRequired',
      'diagnostic',
      'elicitation.completed',
      'manager.failed',
      'manager.rejected',
      'manager.started',
      'manager.stopped',
      'resource.updated',
      'server.log',
      'server.notification',
      'server.request',
      'tool.accepted',
      'tool.held',
    ]);
  });

  it('include these failure codes.', () => {
    expect(FAILURE_CODES).toEqual([
      'config-invalid',
      'variable-missing',
      'trust-denied',
      'command-not-found',
      'command-not-executable',
      'cwd-not-found',
      'spawn-failed',
      'process-exited',
      'stdout-closed',
      'address-refused',
      'http-status',
      'http-not-mcp',
      'session-expired',
      'auth-required',
      'connection-lost',
      'launch-timeout',
      'handshake-timeout',
      'list-timeout',
      'protocol-version',
      'protocol-error',
      'server-error',
      'message-too-large',
      'unresponsive',
      'not-released',
      'crash-loop',
      'needs-fleet',
      'no-lease',
      'lease-lost',
      'internal',
    ]);
  });

  it('include these errors and their codes.', () => {
    expect(
      errorCodes(`class A extends Error { readonly code = 'A_CODE' } class B { abstract code: string }`),
    ).toEqual({
      A: 'A_CODE',
    });
    expect(errorCodes(readSource('src/errors.ts'))).toEqual({
      AuthRequiredError: 'AUTH_REQUIRED',
      CallAbortedError: 'CALL_ABORTED',
      CallRefusedError: 'CALL_REFUSED',
      ResultWithheldError: 'RESULT_WITHHELD',
      CallTimeoutError: 'CALL_TIMEOUT',
      ConfigError: 'CONFIG_ERROR',
      ConnectionLostError: 'CONNECTION_LOST',
      HandshakeError: 'HANDSHAKE_FAILED',
      InvalidArgumentsError: 'INVALID_ARGUMENTS',
      InvalidTransitionError: 'INVALID_TRANSITION',
      LaunchError: 'LAUNCH_FAILED',
      NotFoundError: 'NOT_FOUND',
      UnsupportedError: 'UNSUPPORTED',
      NotReadyError: 'NOT_READY',
      OutcomeUnknownError: 'OUTCOME_UNKNOWN',
      JsonRpcError: 'JSON_RPC_ERROR',
      ToolHeldError: 'TOOL_HELD',
      TrustRequiredError: 'TRUST_REQUIRED',
      UnknownToolError: 'UNKNOWN_TOOL',
    });
  });
});
