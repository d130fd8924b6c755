/**
 * docs/reference/troupe.1: the man page, from the declarations of the command line.
 *
 * Only macros of man(7) that groff and mandoc both know.
 */
import { KNOWN_SOURCES } from '../../dist/src/config/files/known-sources.js';
import { EXIT_CODES, VARIABLES } from '../../dist/src/cli/declarations/environment.js';
import { EXAMPLES } from '../../dist/src/cli/declarations/examples.js';
import { declareProgram } from '../../dist/src/cli/program.js';

/** Where the folders of a user are on Linux. */
const FOLDERS = {
  project: '',
  home: '~/',
  own: '~/.config/troupe/',
  appData: '~/.config/',
  dotConfig: '~/.config/',
};

/** @param {{ version: string, description: string }} manifest package.json */
export function manPage({ version, description }) {
  const program = declareProgram({ act: async () => {}, reuse: async () => {} }, process);
  const commands = program.commands.filter((command) => !isHidden(command));
  return `${[
    `.\\" Generated from src/cli/declarations and src/cli/program.ts. Change those, then run: npm run docs`,
    `.TH TROUPE 1 "" "troupe ${version}" "User Commands"`,
    '.ad l',
    '.nh',
    '.SH NAME',
    `troupe \\- ${text(sentence(program.description()))}`,
    '.SH SYNOPSIS',
    '.B troupe',
    text('[options] command [arguments]'),
    '.SH DESCRIPTION',
    text(description),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH OPTIONS',
    text('These work for each command.'),
    ...program.options.flatMap(optionLines),
    '.SH ENVIRONMENT',
    ...Object.entries(VARIABLES).flatMap(([name, meaning]) => entry(bold(name), meaning)),
    '.SH FILES',
    ...KNOWN_SOURCES.flatMap(({ kind, scope, files }) =>
      files.flatMap((file) => entry(pathOf(file), `servers of the ${scope} (${kind})`)),
    ),
    '.SH "EXIT STATUS"',
    ...Object.entries(EXIT_CODES).flatMap(([code, meaning]) => entry(bold(code), meaning)),
    '.SH EXAMPLES',
    ...commands.flatMap((command) =>
      (EXAMPLES[command.name()] ?? []).flatMap(([line, meaning]) => entry(bold(`troupe ${line}`), meaning)),
    ),
  ].join('\n')}\n`;
}

/** A long path may be broken after any folder. */
function pathOf({ in: base, path }) {
  return italic(`${FOLDERS[base]}${path}`).replaceAll('/', '/\\:');
}

function isHidden(command) {
  return command.name().startsWith('_') || command.name() === 'help';
}

function commandLines(command) {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? name : `[${name}]`;
  });
  return [
    `.SS ${quoted([bold(`troupe ${command.name()}`), ...words.map(italic)].join(' '))}`,
    text(`${sentence(command.description())}.`),
    ...command.registeredArguments
      .filter(({ description }) => description !== '')
      .flatMap((argument) => entry(italic(argument.name()), argument.description + choices(argument))),
    ...command.options.flatMap(optionLines),
  ];
}

function optionLines(option) {
  const { defaultValue } = option;
  const preset = defaultValue === undefined || option.negate ? '' : `; default: ${defaultValue}`;
  return entry(bold(option.flags), option.description + choices(option) + preset);
}

function choices({ argChoices }) {
  return argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
}

/** A definition, indented below its term. */
function entry(term, meaning) {
  return ['.TP', term, text(`${sentence(meaning)}.`)];
}

function sentence(words) {
  return (words[0]?.toUpperCase() ?? '') + words.slice(1).replace(/\.$/, '');
}

const bold = (words) => `\\fB${text(words)}\\fR`;
const italic = (words) => `\\fI${text(words)}\\fR`;
const quoted = (words) => `"${words.replaceAll('"', '\\(dq')}"`;

/** As it stands: no part of it is a request or an escape of roff. */
function text(words) {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^\./, '\\&.');
}
