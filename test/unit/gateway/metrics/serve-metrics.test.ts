/** The metrics of a gateway as Prometheus reads them. */
import { request } from 'node:http';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayEvent } from '../../../../src/gateway/gateway.js';
import { serveMetrics, type MetricsService } from '../../../../src/gateway/metrics/serve-metrics.js';
import type { LifecycleEventBody } from '../../../../src/lifecycle/event.js';
import type { ServerStatus } from '../../../../src/lifecycle/status.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { makeStatus } from '../../../support/make-status.js';

useLeakCheck();

let service: MetricsService | undefined;
afterEach(() => service?.close());

class Measured {
  readonly #events = new Subject<GatewayEvent>();
  readonly events$ = this.#events as never;
  status: ServerStatus[] = [makeStatus({ server: 'fs' }), makeStatus({ server: 'git' }, 'failed')];

  publish(...bodies: readonly LifecycleEventBody[]): void {
    for (const body of bodies) this.#events.next({ ...body, at: 1, seq: 1 });
  }
}

async function measuring() {
  const gateway = new Measured();
  service = await serveMetrics(gateway, { service: { sessions: 3 } });
  const { port } = service;
  const ask = (path = '/metrics', method = 'GET', host = `127.0.0.1:${port}`) =>
    new Promise<{ readonly status: number; readonly text: string; readonly type: string | undefined }>(
      (resolve, reject) => {
        request({ port, path, method, headers: { host }, agent: false }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += String(chunk)));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text, type: response.headers['content-type'] }),
          );
        })
          .on('error', reject)
          .end();
      },
    );
  return { gateway, ask };
}

const scope = (server = 'fs') => ({ server, generation: 1 });
const failure = { code: 'process-exited', message: 'secret words', phase: 'session', at: 1 } as const;
const started = (call: number, tool = 't', server = 'fs') =>
  ({ type: 'call.started', call, tool, ...scope(server) }) as const;
const finished = (call: number, tool = 't', outcome: 'answered' | 'timed-out' = 'answered') =>
  ({ type: 'call.finished', call, tool, durationMs: 40, outcome, ...scope() }) as const;

describe('the metrics', () => {
  it('count what the connections do.', async () => {
    const { gateway, ask } = await measuring();
    gateway.publish(
      finished(0, 'before-it-was-counted'),
      { type: 'connection.state', from: null, to: 'launching', substate: 'waiting', ...scope() },
      { type: 'connection.state', from: 'launching', to: 'launching', substate: 'opening', ...scope() },
      { type: 'connection.lost', failure, ...scope() },
      { type: 'connection.failed', failure, attempt: 1, maxAttempts: 1, ...scope('git') },
      ...[started(1), started(2), finished(1), started(3, 'u'), finished(3, 'u', 'timed-out')],
    );
    const { status, text, type } = await ask();
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const called =
      'troupe_server_name="fs",mcp_method_name="tools/call",gen_ai_operation_name="execute_tool"';
    for (const line of [
      'troupe_connection_count{troupe_server_name="fs",troupe_connection_state="ready"} 1',
      'troupe_connection_count{troupe_server_name="git",troupe_connection_state="failed"} 1',
      'troupe_start_queue 0',
      'troupe_connection_attempts_total{troupe_server_name="fs"} 1',
      'troupe_connection_losses_total{troupe_server_name="fs",error_type="process-exited"} 1',
      'troupe_connection_failures_total{troupe_server_name="git",error_type="process-exited"} 1',
      'troupe_calls_active{troupe_server_name="fs"} 1',
      `mcp_client_operation_duration_seconds_bucket{${called},gen_ai_tool_name="t",error_type="",le="0.05"} 1`,
      `mcp_client_operation_duration_seconds_count{${called},gen_ai_tool_name="u",error_type="timeout"} 1`,
      'troupe_sessions 3',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).not.toContain('secret words');
    expect(text).toMatch(
      /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"\n]*"(,[a-z_]+="[^"\n]*")*\})? [\d.e+-]+|)$/m,
    );
  });

  it('have a bounded number of series, whatever tools are called and servers come and go.', async () => {
    const { gateway, ask } = await measuring();
    for (let call = 1; call <= 1_500; call += 1)
      gateway.publish(started(call, `t${call}`), finished(call, `t${call}`));
    const { text } = await ask();
    const counts = text
      .split('\n')
      .filter((line) => line.startsWith('mcp_client_operation_duration_seconds_count'));
    expect(counts).toHaveLength(1_001);
    expect(counts.at(-1)).toContain('gen_ai_tool_name="_other",error_type=""} 500');
    gateway.status = [];
    gateway.publish({ type: 'connection.removed', ...scope() });
    expect((await ask()).text).not.toContain('troupe_server_name');
  });

  it('are at one address only, and for programs of this computer.', async () => {
    const { ask } = await measuring();
    expect((await ask('/')).status).toBe(404);
    expect((await ask('/metrics', 'POST')).status).toBe(405);
    expect(await ask('/metrics', 'HEAD')).toMatchObject({ status: 200, text: '' });
    expect((await ask('/metrics', 'GET', 'rebound.example')).status).toBe(403);
  });

  it('take many scrapes at once, and end although a reader holds its connection.', async () => {
    const { ask } = await measuring();
    const scrapes = await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect(scrapes.every(({ status }) => status === 200)).toBe(true);
    const idle = request({ port: service?.port, path: '/metrics' });
    idle.on('error', () => {});
    idle.flushHeaders();
    await service?.close();
    await expect(ask()).rejects.toThrow('ECONNREFUSED');
  });

  it.each([[{ port: -1 }], [{ host: 7 }], [{ prot: 9464 }]])('refuse the options %j.', async (options) => {
    await expect(serveMetrics(new Measured(), options as never)).rejects.toMatchObject({
      name: 'ConfigError',
    });
  });
});
