/**
 * A host that never closes its troupe unless it is told to: connects the servers of its argument, says so, and then
 * does what each message asks for.
 */
import { createTroupe } from 'mcp-troupe';

const troupe = createTroupe({ servers: JSON.parse(process.argv[2]) });

const deeds = {
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
process.on('message', (message) => deeds[message.deed](message));

const { ready } = await troupe.start();
process.send({ ready });
