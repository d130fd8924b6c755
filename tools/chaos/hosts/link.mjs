/** A TCP link between a host and its engine that can be cut: bytes stop in both directions, and neither side notices. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export async function openLink(port) {
  const pairs = new Set();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const pair = [near, far];
    pairs.add(pair);
    const over = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const [from, to] of [pair, pair.toReversed()]) {
      from.on('data', (bytes) => to.write(bytes));
      from
        .on('error', () => {})
        .on('close', () => {
          // The other side of a cut link does not hear of it.
          if (!isCut) over();
        });
      if (isCut) from.pause();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    cut() {
      isCut = true;
      for (const socket of [...pairs].flat()) socket.pause();
    },
    join() {
      isCut = false;
      for (const socket of [...pairs].flat()) socket.resume();
    },
    async close() {
      for (const socket of [...pairs].flat()) socket.destroy();
      server.close();
    },
  };
}
