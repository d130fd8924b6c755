// Stands between a client and a server and does nothing but hand bytes on: what one more process costs.
// Usage: node pipe-hop.mjs COMMAND [ARGS...]
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
