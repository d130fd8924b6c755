/** A server and a transport connected to it; both are closed after the test. */
import { afterEach } from 'vitest';
import type { HttpTransportOptions } from '../../src/transports/http/http-session.js';
import type { SessionTransport } from '../../src/transports/session-transport.js';
import { createStreamableHttpTransport } from '../../src/transports/http/streamable-http.js';
import { createControlledClock, type ControlledClock } from './controlled-clock.js';
import { record, type SessionRecord } from './session-record.js';
import { startServer, type Handler, type TestServer } from './http-server.js';

export interface Fixture {
  readonly server: TestServer;
  readonly clock: ControlledClock;
  readonly transport: SessionTransport;
  readonly recorded: SessionRecord;
}

export type Connect = (
  handle: Handler,
  options?: Partial<HttpTransportOptions> & {
    create?: (options: HttpTransportOptions) => SessionTransport;
    path?: string;
  },
) => Promise<Fixture>;

export function useHttpFixture(): Connect {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return async (handle, { create = createStreamableHttpTransport, path = '/mcp', ...options } = {}) => {
    const server = await startServer(handle);
    closing.push(() => server.close());
    const clock = createControlledClock();
    const transport = create({ url: server.origin + path, clock, stop: { deleteMs: 1_000 }, ...options });
    closing.push(() => transport.kill());
    return { server, clock, transport, recorded: record(transport) };
  };
}
