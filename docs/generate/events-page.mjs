/**
 * docs/reference/events.md: every lifecycle event with its fields.
 */
import { aliasBlock, memberTable, page } from './markdown.mjs';
import { readDeclarations } from './source-reader.mjs';

/** @param {string} source of `src/lifecycle/event.ts` */
export function eventsPage(source) {
  const declarations = readDeclarations(source);
  const events = declarations
    .get('LifecycleEventBody')
    .variants()
    .map((variant) => eventOf(variant, declarations))
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
  const always = declarations
    .get('LifecycleEvent')
    .variants()
    .flatMap(({ members }) => members);
  const words = [...declarations.values()].filter(
    ({ kind, doc, isExported }) => kind === 'type' && isExported && doc !== '',
  );
  return page('Lifecycle events', '`src/lifecycle/event.ts`', [
    'What `events$` brings. Every event has its `type` and these fields:',
    memberTable('Field', always),
    'An event about a connection also has these:',
    memberTable('Field', declarations.get('OfConnection').members),
    ...events.flatMap(eventBlocks),
    '## Values',
    ...words.map(aliasBlock),
  ]);
}

function eventOf({ doc, members, references }, declarations) {
  const type = members.find(({ name }) => name === 'type')?.type.replace(/^'|'$/g, '');
  const unknown = references.filter((name) => !declarations.has(name));
  if (type === undefined || unknown.length > 0) {
    throw new Error(`A lifecycle event that cannot be documented: ${type} ${unknown}`);
  }
  const shared = references
    .filter((name) => name !== 'OfConnection')
    .flatMap((name) => declarations.get(name).members);
  const isOfConnection = references.includes('OfConnection');
  return { type, doc, isOfConnection, fields: [...shared, ...members.filter(({ name }) => name !== 'type')] };
}

function eventBlocks({ type, doc, isOfConnection, fields }) {
  const about = isOfConnection ? 'About a connection.' : 'About no connection in particular.';
  return [
    `## ${type}`,
    doc === '' ? about : `${doc} ${about}`,
    ...(fields.length === 0 ? [] : [memberTable('Field', fields)]),
  ];
}
