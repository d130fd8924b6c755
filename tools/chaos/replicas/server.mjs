/**
 * The MCP server of a run with replicas: `server.mjs JOURNAL [BEATS]`. Each side effect is a line in the journal. With a file for beats,
 * it shows there that it runs.
 */
import { createInterface } from 'node:readline';
import { beat } from '../../../test/support/beat.mjs';
import { serve, WELL } from '../servers/serve.mjs';

const [journal, beats] = process.argv.slice(2);
if (beats !== undefined) beat(beats);
const reply = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
process.stdout.on('error', () => {});
createInterface({ input: process.stdin })
  .on('line', (line) => serve(JSON.parse(line), { mood: WELL, journal, reply, later: setTimeout }))
  .on('close', () => process.exit());
