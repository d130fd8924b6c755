/** A replica of a gateway: serves until SIGTERM, and then drains. Its argument has the engine, its port, and its server. */
import { createFleet } from 'mcp-troupe/fleet';
import { createRedisEngine } from 'mcp-troupe/fleet-redis';
import { createGateway, serveHttp } from 'mcp-troupe/gateway';

const { redis, port, server } = JSON.parse(process.argv[2]);
const engine = createRedisEngine({ address: redis, timeoutMs: 5_000 });
const fleet = createFleet({ engine, address: `http://127.0.0.1:${port}` });
const servers = { quick: { command: process.execPath, args: [server] } };
const gateway = createGateway({ servers, fleet });
const service = await serveHttp(gateway, { port, publicUrl: 'http://mcp.example.com' });
process.once('SIGTERM', async () => {
  service.drain();
  await service.close();
  await gateway.close();
  await engine.close();
  process.disconnect();
});
await gateway.start();
process.send({ host: fleet.hosts.self });
