import type { DroppingServer } from './era-server.mjs';

export function inProcessServer(): DroppingServer;
