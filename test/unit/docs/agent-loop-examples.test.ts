/** The page about agent loops shows its examples and no other runnable code. That the examples run is tested in `guide.test.ts`. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const DOCS = new URL('../../../docs/', import.meta.url);
const PAGE = readFileSync(new URL('guide/agent-loop.md', DOCS), 'utf8');
const FOLDER = new URL('examples/agent-loop/', DOCS);
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && name !== 'servers.ts');

it.each(EXAMPLES)('shows parts of %s unchanged, and runs it.', (name) => {
  const [, section = ''] = PAGE.split(`(../examples/agent-loop/${name})`);
  const [shown = ''] = section.split('\n## ');
  const parts = [...shown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, part = '']) => part);
  expect(parts.length).toBeGreaterThan(0);
  const example = unindented(readFileSync(new URL(name, FOLDER), 'utf8'));
  for (const part of parts) expect(example).toContain(unindented(part));
  expect(shown).toContain(`$ node agent-loop/${name}\n`);
});

function unindented(code: string): string {
  return code.replaceAll(/^ +/gm, '');
}
