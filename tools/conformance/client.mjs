/**
 * The client under test, as a conformance runner starts it: with the address of its server as the last argument.
 *
 * The line on stdout is the outcome, since the runner overlooks how a client of a whole suite has ended. What happened
 * is on stderr.
 */
import { enter } from './turnstile.mjs';

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? 'any';
const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const leave = await enter(scenario);
try {
  const { play } = await import('./play-scenario.mjs');
  await play(scenario, url, given);
  console.log('done');
} catch (error) {
  console.error(error);
  console.log(error.code ?? error.name);
  process.exitCode = 1;
}
leave();
