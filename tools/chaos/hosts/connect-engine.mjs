/** The client of the engine at that port of this machine. */
export async function connectEngine(kind, port) {
  const options = { address: `${kind}://127.0.0.1:${port}`, timeoutMs: 500 };
  if (kind === 'redis') return (await import('mcp-troupe/fleet-redis')).createRedisEngine(options);
  return (await import('mcp-troupe/fleet-nats')).createNatsEngine(options);
}
