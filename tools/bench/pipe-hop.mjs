// Forwards bytes between a client and a server, to measure the cost of one more process.
// Usage: node pipe-hop.mjs COMMAND [ARGS...]
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
