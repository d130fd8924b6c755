/**
 * Responses whose turn on their connection has not come: those to requests that a client sent before it had the answers
 * to its earlier ones. Node tells none of them when the connection breaks, and they would count as open for ever.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const open = new WeakMap<Socket, Set<ServerResponse>>();

/** From here on `close` is told of this response also where its connection breaks before its turn. */
export function tellOfBreak(response: ServerResponse): void {
  const { socket } = response.req;
  const known = open.get(socket);
  const responses = known ?? new Set();
  responses.add(response);
  response.once('close', () => responses.delete(response));
  if (known !== undefined) return;
  open.set(socket, responses);
  socket.once('close', () => {
    for (const each of responses) if (each.socket === null && !each.writableFinished) breakOff(each);
  });
}

function breakOff(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
