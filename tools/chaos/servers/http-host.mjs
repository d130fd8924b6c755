/**
 * The process that runs all HTTP servers of a chaos run. The first message names them; it answers with their ports.
 * After that, each message is an order, and it confirms each when it is done.
 */
import { once } from 'node:events';
import { firstPort, HttpEndpoint } from './http-endpoint.mjs';

const ORDERS = {
  mood: (endpoint, { mood }) => {
    endpoint.mood = mood;
  },
  cut: (endpoint) => endpoint.cut(),
  forget: (endpoint) => endpoint.forget(),
  refuse: (endpoint) => endpoint.refuse(),
  accept: (endpoint) => endpoint.listen(endpoint.port, 0),
};

process.on('disconnect', () => process.exit());
const [{ journal, names, ports }] = await once(process, 'message');
const endpoints = new Map();
let nextPort = firstPort();
for (const [index, name] of names.entries()) {
  const endpoint = new HttpEndpoint(journal, index % 2 === 0);
  await endpoint.listen(ports?.[index] ?? nextPort, ports === undefined ? 1 : 0);
  nextPort = endpoint.port + 1;
  endpoints.set(name, endpoint);
}
process.on('message', async ({ number, order, name, ...details }) => {
  await ORDERS[order](endpoints.get(name), details);
  process.send({ number });
});
process.send({ ports: [...endpoints.values()].map(({ port }) => port) });
