/**
 * A host that does not close its troupe by itself: connects the servers in its argument, reports the ready ones, and then
 * performs the action of each message.
 */
import { createTroupe } from 'mcp-troupe';

const troupe = createTroupe({ servers: JSON.parse(process.argv[2]) });

const actions = {
  add: async ({ name, config }) => {
    const connection = await troupe.add(name, config);
    await connection.ready();
    process.send({ ready: [name] });
  },
  close: async () => {
    await troupe.close();
    process.disconnect();
  },
  exit: () => process.exit(7),
  throw: () => {
    setImmediate(() => {
      throw new Error('out of luck');
    });
  },
  reject: () => void Promise.reject(new Error('out of promises')),
};
process.on('message', (message) => actions[message.action](message));

const { ready } = await troupe.start();
process.send({ ready });
