/** `troupe serve --http` as a service: flags from the environment, a log in JSON, probes, metrics, reload and drain. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ask, initialize, ofSession } from '../../support/gateway-http-client.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { MISSING, QUICK, useTeam } from '../../support/team.js';
import { TroupeProcess } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const TOKEN = 'quay-token-7';
const example = (name: string): string =>
  readFileSync(new URL(`../../../docs/examples/service/${name}`, import.meta.url), 'utf8');

describe('a gateway as a service', () => {
  it('says when it is ready, reads its files again, and lets calls finish when it is told to stop.', async () => {
    const config = team().write('service.json', { quick: QUICK, missing: MISSING });
    const gateway = TroupeProcess.start(['serve', '--json'], {
      env: {
        TROUPE_SERVE_CONFIG: config,
        TROUPE_SERVE_HTTP: 'true',
        TROUPE_SERVE_TOKEN: TOKEN,
        TROUPE_SERVE_REQUIRE: 'quick',
        TROUPE_SERVE_METRICS: '0',
        TROUPE_SERVE_DRAIN_DELAY: '60000',
        TROUPE_SERVE_LOG_FORMAT: 'json',
      },
    });
    await gateway.saw(/\n/);
    const { url, metricsUrl } = JSON.parse(gateway.stdout) as Readonly<Record<'url' | 'metricsUrl', string>>;
    const port = Number(new URL(url).port);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const probe = async (path: string) => {
      const reply = await ask(port, { method: 'GET', path });
      return [reply.status, await reply.json()];
    };
    await expect.poll(() => probe('/readyz')).toEqual([200, { status: 'ready' }]);
    expect(await probe('/healthz')).toEqual([200, { status: 'ok' }]);

    const opened = await ask(port, { body: initialize(), headers });
    await opened.text();
    const session = ofSession(opened.headers['mcp-session-id'] as string, headers);
    const params = { name: 'mcp__quick__wait', arguments: { ms: 1_500 } };
    const waiting = await ask(port, {
      headers: session,
      body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
    });
    expect(await (await fetch(metricsUrl)).text()).toContain(
      'troupe_calls_active{troupe_server_name="quick"} 1\n',
    );

    const before = readFileSync(config, 'utf8');
    writeFileSync(config, '{ "mcpServers": ');
    gateway.signal('SIGHUP');
    await gateway.saw(/"kind":"config-problem"/, 'stderr');
    writeFileSync(config, before);

    gateway.signal('SIGTERM');
    await gateway.saw(/Stopping/, 'stderr');
    expect(await probe('/readyz')).toEqual([503, { status: 'draining' }]);
    expect((await ask(port, { body: initialize(), headers })).status).toBe(503);
    expect((await waiting.messages()).at(-1)).toMatchObject({
      id: 2,
      result: { content: [{ text: 'waited' }] },
    });
    await gateway.signalAgain('SIGTERM');
    const { code, stderr } = await gateway.finished();
    expect(code).toBe(0);
    expect(stderr).not.toContain(TOKEN);
    const records = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
    for (const record of records)
      expect(Object.keys(record).slice(0, 3)).toEqual(['time', 'level', 'message']);
    expect(records.find(({ event }) => event === 'connection.failed')).toMatchObject({
      level: 'error',
      server: 'missing',
      failure: { code: 'command-not-found' },
    });
  });
});

interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
}

describe('the examples of a service', () => {
  it('agree on ports and paths, and give the gateway time to stop.', () => {
    const documents = parseAllDocuments(example('kubernetes.yaml')).map(
      (document) => document.toJSON() as unknown,
    );
    const deployment = documents.find((each) => (each as { readonly kind: string }).kind === 'Deployment');
    const { spec } = (deployment as { readonly spec: { readonly template: { readonly spec: Pod } } }).spec
      .template;
    const container = spec.containers[0]!;
    expect(container.ports).toContainEqual({ name: 'mcp', containerPort: 8_700 });
    expect(container.livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'mcp' });
    expect(container.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'mcp' });
    const [, preStop] = container.lifecycle.preStop.exec.command;
    // The grace period of calls, and the end of the servers.
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(preStop) + 10 + 12);
    const compose = parse(example('compose.yaml')) as {
      services: { gateway: { stop_grace_period: string } };
    };
    expect(compose.services.gateway.stop_grace_period).toBe('30s');
    expect(example('troupe.service')).toMatch(/^TimeoutStopSec=30$/m);
    const configMap = documents[0] as { readonly data: { readonly 'mcp.json': string } };
    expect(JSON.parse(configMap.data['mcp.json'])).toEqual(JSON.parse(example('mcp.json')));
  });

  it('set only variables that the command knows.', async () => {
    const { serveVariables } = await import('../../../src/cli/arguments/serve-variables.js');
    const { declareProgram } = await import('../../../src/cli/program.js');
    const act = async (): Promise<void> => {};
    const program = declareProgram({ act, reuse: act }, { ...process, env: {} });
    const serve = program.commands.find((command) => command.name() === 'serve')!;
    const known = new Set([...serveVariables(serve).keys(), 'TROUPE_SERVE_TOKEN']);
    const files = ['Dockerfile', 'compose.yaml', 'kubernetes.yaml', 'troupe.service'];
    const used = files.flatMap((file) =>
      [...example(file).matchAll(/TROUPE_SERVE_[A-Z_]+/g)].map(([name]) => name),
    );
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});
