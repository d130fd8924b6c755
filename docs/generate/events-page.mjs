/**
 * docs/reference/events.md: every lifecycle event with its fields, and every kind of diagnostic.
 * An event or a field without a doc comment is an error.
 */
import { DIAGNOSTIC_KINDS } from './diagnostic-kinds.mjs';
import { aliasBlock, cell, code, memberTable, page, table } from './markdown.mjs';
import { failOn, undocumented } from './meanings.mjs';
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
  failOn('Events', [
    ...undocumented('LifecycleEvent', always),
    ...undocumented('ConnectionScoped', declarations.get('ConnectionScoped').members),
    ...events.filter(({ doc }) => doc === '').map(({ type }) => `${type} has no doc comment`),
    ...events.flatMap(({ type, fields }) => undocumented(type, fields)),
  ]);
  const words = [...declarations.values()].filter(
    ({ kind, type, isExported }) => kind === 'type' && isExported && type.startsWith("'"),
  );
  return page('Lifecycle events', '`src/lifecycle/event.ts`', [
    'The events of `events$`. Each has a `type` and these fields:',
    memberTable('Field', always),
    'An event about a connection also has these:',
    memberTable('Field', declarations.get('ConnectionScoped').members),
    ...events.flatMap(eventBlocks),
    '## Kinds of diagnostics',
    'The `kind` of a `diagnostic` event. A kind keeps its meaning between versions; its message may change.',
    diagnosticsTable(),
    '## Values',
    ...words.map(aliasBlock),
  ]);
}

function diagnosticsTable() {
  return table(
    ['Kind', 'Severity', 'Meaning', 'What to do'],
    Object.entries(DIAGNOSTIC_KINDS).map(([kind, { severity, meaning, action }]) => [
      code(kind),
      severity,
      cell(meaning),
      cell(action),
    ]),
  );
}

function eventOf({ doc, members, references }, declarations) {
  const type = members.find(({ name }) => name === 'type')?.type.replace(/^'|'$/g, '');
  const unknown = references.filter((name) => !declarations.has(name));
  if (type === undefined || unknown.length > 0) {
    throw new Error(`A lifecycle event that cannot be documented: ${type} ${unknown}`);
  }
  const shared = references
    .filter((name) => name !== 'ConnectionScoped')
    .flatMap((name) => declarations.get(name).members);
  const isOfConnection = references.includes('ConnectionScoped');
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
