/**
 * The client under test. A conformance runner starts it with the address of its server as the last argument.
 *
 * The line on stdout is the outcome, because the runner ignores the exit codes of the clients of a whole suite. The events
 * are on stderr.
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
