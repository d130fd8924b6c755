/**
 * docs/reference/options.md: every option, with its type, its meaning and, for the policy, its default.
 * An option without a doc comment, or a default without an option, is an error.
 */
import { aliasBlock, cell, code, memberTable, page, table } from './markdown.mjs';
import { failOn, undocumented } from './meanings.mjs';
import { readDeclarations } from './source-reader.mjs';

/**
 * @param {{ options: string, policy: string, gateway: readonly string[] }} sources `gateway`: those of `mcp-troupe/gateway`
 * @param {{ local: object, remote: object }} policies the values of `DEFAULT_POLICY` and `REMOTE_POLICY`
 * @param {Readonly<Record<string, import('../../dist/src/config/entry/entry-fields.js').EntryField>>} entryFields
 *   the value of `ENTRY_FIELDS`
 */
export function optionsPage(sources, { local, remote }, entryFields) {
  const options = [...readDeclarations(sources.options).values()].filter(({ isExported }) => isExported);
  const policy = readDeclarations(sources.policy);
  const gateway = sources.gateway.flatMap((text) =>
    [...readDeclarations(text).values()].filter(
      ({ name, kind }) => name.endsWith('Options') && kind === 'interface',
    ),
  );
  const isInterface = ({ kind }) => kind === 'interface';
  const settings = flattened(policy, 'ConnectionPolicy');
  failOn('Options', [
    ...[...options.filter(isInterface), ...gateway].flatMap(({ name, members }) =>
      undocumented(name, members),
    ),
    ...undocumented('ConnectionPolicy', settings),
    ...differences(
      settings.map(({ name }) => name),
      leavesOf({ ...remote, ...local }, settings),
    ),
  ]);

  const policyRows = settings.map(({ name, type, doc }) => {
    const [own, far] = [local, { ...local, ...remote }].map((values) => shownValue(valueAt(values, name)));
    return [code(name), cell(code(type)), own, far === own ? '' : far, cell(doc)];
  });
  const documented = [...options, ...gateway].map(({ name }) => name);
  const blocksOf = (declaration) => interfaceBlocks(declaration, documented);
  const constants = options.filter(({ kind }) => kind === 'const');
  const aliases = [...options, ...policy.values()].filter(({ kind }) => kind === 'type');
  const from = '`src/options.ts`, `src/config/entry`, `machines/policy/policy.ts` and `src/gateway`';
  return page('Options', from, [
    'Durations are milliseconds. An option marked `?` may be left out.',
    ...options.filter(isInterface).toSorted(troupeOptionsFirst).flatMap(blocksOf),
    '## Fields of an entry',
    'As a file holds them. A change of a field takes effect with the next reload: at once, or with a new session.',
    table(
      ['Field', 'Other names', 'Servers', 'Default', 'A change', 'Meaning'],
      Object.entries(entryFields).map(fieldRow),
    ),
    '## Connection policy',
    'Each number can be overridden by `policy`, for all servers or in one entry.',
    table(['Setting', 'Type', 'Default', 'of a remote server', 'Meaning'], policyRows),
    '## The gateway',
    'The options of `mcp-troupe/gateway`; see [the guide](../guide/gateway.md).',
    ...gateway.flatMap(blocksOf),
    '## Other types',
    ...aliases.map(aliasBlock),
    '## Constants',
    table(
      ['Name', 'Value', 'Meaning'],
      constants.map(({ name, type, doc }) => [code(name), cell(code(type)), cell(doc)]),
    ),
  ]);
}

function shownValue(value) {
  if (value === undefined) return '';
  return code(
    JSON.stringify(value)
      .replaceAll('"', '')
      .replace(/([:,])(?=\S)/g, '$1 '),
  );
}

function fieldRow([name, { aliases = [], transports, onReload, default: value, meaning }]) {
  return [
    code(name),
    aliases.map(code).join(', '),
    transports.join(', '),
    value === undefined ? '' : code(JSON.stringify(value)),
    onReload === 'live' ? 'at once' : 'new session',
    cell(meaning),
  ];
}

function troupeOptionsFirst(a, b) {
  return Number(b.name === 'TroupeOptions') - Number(a.name === 'TroupeOptions');
}

/** What it extends is named where the page tells of it. */
function interfaceBlocks({ name, parent, doc, members }, documented) {
  return [
    `## ${name}`,
    ...(doc === '' ? [] : [doc]),
    ...(!documented.includes(parent)
      ? []
      : [`In addition, all options of [${parent}](#${parent.toLowerCase()}).`]),
    memberTable('Option', members),
  ];
}

/** Settings by dotted name. What their group, else its type, says comes before their own comment. */
function flattened(declarations, name, prefix = '', inherited = '') {
  return declarations.get(name).members.flatMap((member) => {
    const path = prefix + member.name;
    const named = declarations.get(member.type);
    const doc = [inherited, member.doc || named?.doc].filter(Boolean).join(' ');
    if (named?.kind === 'interface') return flattened(declarations, named.name, `${path}.`, doc);
    const inline = member.members();
    if (inline.length === 0) return [{ ...member, name: path, doc }];
    return inline.map((inner) => ({ ...inner, name: `${path}.${inner.name}`, doc: inner.doc || doc }));
  });
}

function leavesOf(value, settings, prefix = '') {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = prefix + key;
    const isLeaf = settings.some(({ name }) => name === path) || typeof inner !== 'object' || inner === null;
    return isLeaf ? [path] : leavesOf(inner, settings, `${path}.`);
  });
}

function valueAt(value, path) {
  return path.split('.').reduce((inner, key) => inner[key], value);
}

function differences(settings, defaults) {
  return [
    ...settings.filter((name) => !defaults.includes(name)).map((name) => `${name} has no default`),
    ...defaults
      .filter((name) => !settings.includes(name))
      .map((name) => `the default ${name} has no setting`),
  ];
}
