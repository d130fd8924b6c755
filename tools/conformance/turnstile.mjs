/**
 * Limits the number of clients that run at a time: a conformance runner starts all clients of a suite at once, and on a
 * busy machine they would exceed their time limits. A client that measures time runs alone.
 *
 * A client keeps a connection open while it runs, so that its place becomes free if it dies.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const PORT = 'TROUPE_CONFORMANCE_TURNSTILE';
const PLACES = 2;
const ALONE = ['sse-retry'];

/** `env` has its address, for the clients. */
export async function openTurnstile() {
  const waiting = [];
  let taken = 0;

  const letIn = () => {
    while (waiting.length > 0 && taken + waiting[0].places <= PLACES) {
      const { socket, places } = waiting.shift();
      if (socket.destroyed) continue;
      taken += places;
      socket.once('close', () => {
        taken -= places;
        letIn();
      });
      socket.write('come in');
    }
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (scenario) => {
      waiting.push({ socket, places: ALONE.includes(String(scenario)) ? PLACES : 1 });
      letIn();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { env: { [PORT]: String(server.address().port) }, close: () => server.close() };
}

/** Resolves when it is the client's turn, with a function to call at its end; immediately if there is no turnstile. */
export async function enter(scenario) {
  const port = process.env[PORT];
  if (port === undefined) return () => {};
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(scenario);
  await once(socket, 'data');
  return () => socket.destroy();
}
