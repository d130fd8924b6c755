/** The boundary that tells a model where the output of a tool begins and ends. */
import { BOUNDARY_NAME, hideBoundaryName } from './boundary-name.js';

const LONGEST_NAME = 128;

/** Wraps a text so that nothing in it can close the boundary or open another one. */
export function wrapInBoundary(text: string, { server, tool }: { server: string; tool: string }): string {
  const attributes = `server="${cleanName(server)}" tool="${cleanName(tool)}" trust="untrusted"`;
  return `<${BOUNDARY_NAME} ${attributes}>\n${hideBoundaryName(text)}\n</${BOUNDARY_NAME}>`;
}

/** A name of nothing but `[a-zA-Z0-9._-]`, and never empty. */
function cleanName(name: string): string {
  return name.slice(0, LONGEST_NAME).replace(/[^a-zA-Z0-9._-]/g, '_') || '_';
}
