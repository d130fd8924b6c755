/**
 * docs/reference/errors.md: every exported error class, every failure code with the verdict on it, and every code of a
 * configuration problem.
 */
import { aliasBlock, cell, code, memberTable, page, table } from './markdown.mjs';
import { failOn, undocumented } from './meanings.mjs';
import { readDeclarations } from './source-reader.mjs';

/**
 * @param {{ errors: string, failure: string }} sources
 * @param {{ codes: readonly string[], classify: (failure: object) => string }} policy
 */
export function errorsPage(sources, { codes, classify }) {
  const declarations = readDeclarations(sources.errors);
  const failure = readDeclarations(sources.failure);
  const classes = [...declarations.values()].filter(({ kind, isExported }) => kind === 'class' && isExported);
  const exported = (wanted) =>
    [...failure.values(), ...declarations.values()].filter(
      ({ kind, isExported }) => kind === wanted && isExported,
    );
  const base = classes.filter(({ isAbstract }) => isAbstract);
  const concrete = classes
    .filter(({ isAbstract }) => !isAbstract)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const meanings = meaningsOf('FAILURE_CODES', sources.failure);
  const problems = problemCodes(sources.errors);
  failOn('Errors', [
    ...[...classes, ...exported('interface')]
      .filter(({ doc }) => doc === '')
      .map(({ name }) => `${name} has no doc comment`),
    ...[...base, ...exported('interface')].flatMap(({ name, members }) => undocumented(name, members)),
    ...concrete.flatMap((declaration) => undocumented(declaration.name, fieldsOf(declaration, declarations))),
    ...codes.filter((name) => !meanings.has(name)).map((name) => `the code ${name} has no doc comment`),
    ...problems
      .filter(({ meaning, remedy }) => meaning === '' || remedy === '')
      .map(({ name }) => `the code ${name} has no meaning or no remedy`),
  ]);
  const verdicts = codes
    .toSorted()
    .map((name) => [code(name), cell(meanings.get(name)), verdictsOn(name, classify)]);
  return page('Errors', '`src/errors.ts` and `machines/policy/failure.ts`', [
    'Recognize an error by its class or its `code`, never by its message. The `cause` is kept where there is one.',
    ...base.flatMap((declaration) => [
      `## ${declaration.name}`,
      declaration.doc,
      memberTable('Field', declaration.members),
    ]),
    '## Error classes',
    table(
      ['Class', 'Code', 'Meaning'],
      concrete.map(({ name, members, doc }) => [code(name), code(codeOf(name, members)), cell(doc)]),
    ),
    '## Fields',
    ...concrete.flatMap((declaration) => {
      const fields = fieldsOf(declaration, declarations);
      return fields.length === 0 ? [] : [`### ${declaration.name}`, memberTable('Field', fields)];
    }),
    '## Failure codes',
    failure.get('Verdict').doc,
    table(['Code', 'Meaning', 'Verdict'], verdicts),
    '## Configuration problems',
    'The codes of `ConfigProblem`: in `problems` of a `ConfigError`, of `reload()`, of `discoverServers()` and of `troupe config --json`, and in `problem` of a diagnostic of kind `config-problem`.',
    table(
      ['Code', 'Meaning', 'Remedy'],
      problems.map(({ name, meaning, remedy }) => [code(name), cell(meaning), cell(remedy)]),
    ),
    '## Records',
    'Plain data, found on errors, in events, in logs and in the status of a server.',
    ...exported('interface').flatMap(({ name, doc, members }) => [
      `### ${name}`,
      doc,
      memberTable('Field', members),
    ]),
    '## Values',
    ...exported('type')
      .filter(({ name }) => !['FailureCode', 'Verdict', 'ConfigProblemCode'].includes(name))
      .map(aliasBlock),
  ]);
}

/** The comment on each text of an array of that name. */
function meaningsOf(name, source) {
  const [, list = ''] = new RegExp(`const ${name} = \\[([^]*?)\\] as const`).exec(source) ?? [];
  const entries = list.matchAll(/\/\*\*([^]*?)\*\/\s*'([^']+)'/g);
  return new Map([...entries].map(([, doc, text]) => [text, doc.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim()]));
}

/** The codes of configuration problems, each with the two parts of its comment. */
function problemCodes(source) {
  const [, union = ''] = /export type ConfigProblemCode =([^]*?');\n/.exec(source) ?? [];
  const entries = union.matchAll(/(?:\/\*\*([^]*?)\*\/\s*)?\|\s*'([^']+)'/g);
  return [...entries].map(([, doc = '', name]) => {
    const [meaning = '', remedy = ''] = doc.replaceAll(/\s*\n\s*\*\s*/g, ' ').split('Remedy:');
    return { name, meaning: meaning.trim(), remedy: remedy.trim() };
  });
}

function codeOf(name, members) {
  const value = members.find((member) => member.name === 'code')?.value;
  if (value === undefined) throw new Error(`${name} has no code.`);
  return value.replace(/^'|'$/g, '');
}

/** Fields that the class has beside those of every error. */
function fieldsOf({ members, parent }, declarations) {
  const above = declarations.get(parent);
  const inherited = above === undefined || above.name === 'TroupeError' ? [] : fieldsOf(above, declarations);
  return [...inherited, ...members.filter(({ name }) => name !== 'code')];
}

/** The verdict, where a code has only one; else which HTTP statuses are not treated like 400. */
function verdictsOn(failureCode, classify) {
  const failure = { code: failureCode, message: '', phase: 'launch', at: 0 };
  const statuses = Array.from({ length: 200 }, (_, index) => 400 + index);
  const byVerdict = new Map();
  for (const status of statuses) {
    const verdict = classify({ ...failure, http: { status } });
    byVerdict.set(verdict, [...(byVerdict.get(verdict) ?? []), status]);
  }
  if (byVerdict.size === 1) return code(classify(failure));
  const [[ordinary], ...others] = byVerdict;
  const exceptions = others.map(
    ([verdict, list]) => `${code(verdict)} for status ${runsOf(list).join(', ')}`,
  );
  return [...exceptions, `else ${code(ordinary)}`].join('; ');
}

/** `408, 425, 500–599` */
function runsOf(numbers) {
  const runs = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run !== undefined && run.last === number - 1) run.last = number;
    else runs.push({ first: number, last: number });
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`));
}
