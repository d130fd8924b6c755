/**
 * docs/reference/status.md: every field of the status of a server. A field without a doc comment is an error.
 */
import { aliasBlock, memberTable, page } from './markdown.mjs';
import { failOn, undocumented } from './meanings.mjs';
import { readDeclarations } from './source-reader.mjs';

/** @param {{ status: string, details: string, states: string }} sources */
export function statusPage(sources) {
  const status = readDeclarations(sources.status).get('ServerStatus');
  const timings = readDeclarations(sources.details).get('PhaseTimings');
  const states = readDeclarations(sources.states);
  const known = [status, timings];
  failOn(
    'Fields of the status',
    known.flatMap(({ name, members }) => undocumented(name, members)),
  );
  return page('Status', '`src/lifecycle` and `machines/connection/connection.states.ts`', [
    'What `troupe.status` and `status$` give for each server.',
    ...known.flatMap(({ name, doc, members }) => [`## ${name}`, doc, memberTable('Field', members)]),
    '## Values',
    'What each state means is on [the page of the chart](../machines/connection.md); programs ask for tags.',
    ...['CONNECTION_STATES', 'ConnectionTag'].map((name) => aliasBlock(states.get(name))),
  ]);
}
