/**
 * Reads the declarations of one of our TypeScript files: names, types and doc comments, as they are written.
 * TypeScript 7 has no API for that, and the documented files hold interfaces, aliases, classes and constants only.
 *
 * 1. Nothing is skipped: what it does not understand inside such a declaration is an error, not a gap.
 * 2. Types are text; they are never resolved.
 *
 * @typedef {{ text: string, start: number, end: number }} Token
 * @typedef {{ name: string, isOptional: boolean, type: string, value: string, doc: string,
 *   members: () => Member[] }} Member `members` are those of a type that is written out in braces
 * @typedef {{ doc: string, members: Member[], references: string[] }} Variant
 * @typedef {{ kind: string, name: string, isExported: boolean, isAbstract: boolean, parent: string | null,
 *   doc: string, type: string, members: Member[], variants: () => Variant[] }} Declaration
 */

const TOKEN = /\/\*[^]*?\*\/|\/\/.*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[\w$]+|=>|\S/g;
const BRACKETS = new Map(Object.entries({ '{': 1, '(': 1, '[': 1, '}': -1, ')': -1, ']': -1 }));
const MODIFIERS = new Set(['export', 'abstract', 'readonly', 'override', 'static', 'declare']);
const HEAD = /^export |^(abstract class|class|interface|type|const) /gm;

/**
 * @param {string} source
 * @returns {Map<string, Declaration>} by name, in the order of the file
 */
export function readDeclarations(source) {
  const declarations = statementsOf(tokensOf(source)).flatMap(
    (tokens) => declarationOf(tokens, source) ?? [],
  );
  const expected =
    [...source.matchAll(HEAD)].length - [...source.matchAll(/^export (async )?(function|\*|\{)/gm)].length;
  if (declarations.length !== expected) {
    throw new Error(`Understood ${declarations.length} of ${expected} declarations.`);
  }
  return new Map(declarations.map((declaration) => [declaration.name, declaration]));
}

/** @returns {Declaration | null} */
function declarationOf(tokens, source) {
  const words = tokens.filter(isCode);
  const isExported = words[0]?.text === 'export';
  const isAbstract = words.some(({ text }, index) => text === 'abstract' && index < 2);
  const [kind, name, ...rest] = words.filter(({ text }, index) => index > 1 || !MODIFIERS.has(text));
  if (!['interface', 'class', 'type', 'const'].includes(kind?.text)) return null;
  const parent = rest[0]?.text === 'extends' ? rest[1].text : null;
  const base = { kind: kind.text, name: name.text, isExported, isAbstract, parent, doc: docBefore(tokens) };
  if (base.kind === 'interface' || base.kind === 'class') {
    const body = tokens.slice(tokens.findIndex(({ text }) => text === '{') + 1, -1);
    return { ...base, type: '', members: membersOf(body, source), variants: () => [] };
  }
  const value = tokens.slice(tokens.findIndex(({ text }) => text === '=') + 1);
  return { ...base, type: textOf(value, source), members: [], variants: () => variantsOf(value, source) };
}

/** The members of `{ … }`, given what is between the braces. */
function membersOf(tokens, source) {
  return statementsOf(tokens).flatMap((statement) => {
    const words = statement.filter(isCode);
    if (words.length === 0 || words[0].text === 'constructor') return [];
    const [name, ...rest] = words.slice(words.findIndex(({ text }) => !MODIFIERS.has(text)));
    const isOptional = rest[0]?.text === '?';
    const [mark, ...tail] = isOptional ? rest.slice(1) : rest;
    if (!/^[\w$]+$/.test(name.text) || ![':', '=', '('].includes(mark?.text)) {
      throw new Error(`Not a member that can be documented: ${textOf(words, source)}`);
    }
    const member = {
      name: name.text,
      isOptional,
      type: '',
      value: '',
      doc: docBefore(statement),
      members: () => [],
    };
    if (mark.text === '=') return { ...member, value: textOf(tail, source) };
    if (mark.text === '(') return { ...member, type: textOf([mark, ...tail], source) };
    const isObject = tail[0].text === '{' && tail.at(-1).text === '}';
    const inBraces = statement.slice(statement.indexOf(tail[0]) + 1, -1);
    return {
      ...member,
      type: textOf(tail, source),
      members: () => (isObject ? membersOf(inBraces, source) : []),
    };
  });
}

/** The alternatives of a union: what each holds itself, and the names that it is combined with. */
function variantsOf(tokens, source) {
  const alternatives = splitAt(withDocsAfterBars(tokens), '|').filter((alternative) =>
    alternative.some(isCode),
  );
  return alternatives.map((alternative) => {
    const doc = docBefore(alternative);
    const parts = splitAt(withoutParentheses(alternative.slice(alternative.findIndex(isCode))), '&');
    const isObject = (part) => part[0].text === '{';
    return {
      doc,
      members: parts.filter(isObject).flatMap((part) => membersOf(part.slice(1, -1), source)),
      references: parts.filter((part) => !isObject(part)).map((part) => textOf(part, source)),
    };
  });
}

/** A comment in front of a bar is about what follows the bar. */
function withDocsAfterBars(tokens) {
  const moved = [...tokens];
  let depth = 0;
  for (let index = 0; index < moved.length - 1; index += 1) {
    depth += stepOf(moved[index]);
    if (depth === 0 && !isCode(moved[index]) && moved[index + 1].text === '|') {
      [moved[index], moved[index + 1]] = [moved[index + 1], moved[index]];
    }
  }
  return moved;
}

function withoutParentheses(tokens) {
  return tokens[0].text === '(' ? tokens.slice(1, -1) : tokens;
}

/** @returns {Token[]} */
function tokensOf(source) {
  return [...source.matchAll(TOKEN)].map(({ 0: text, index }) => ({
    text,
    start: index,
    end: index + text.length,
  }));
}

function stepOf({ text }) {
  return BRACKETS.get(text) ?? 0;
}

function isCode({ text }) {
  return !text.startsWith('/*') && !text.startsWith('//');
}

/** Ends at `;`, or at the `}` of a block; neither within brackets. The `;` is left out. */
function statementsOf(tokens) {
  const statements = [[]];
  let depth = 0;
  for (const token of tokens) {
    const statement = statements.at(-1);
    depth += stepOf(token);
    if (depth === 0 && token.text === ';') statements.push([]);
    else {
      statement.push(token);
      if (depth === 0 && token.text === '}' && isBlock(statement)) statements.push([]);
    }
  }
  return statements.filter((statement) => statement.some(isCode));
}

/** Interfaces, classes, functions and methods end with their body. */
function isBlock(statement) {
  const words = statement.filter(isCode).map(({ text }) => text);
  const first = words.findIndex((word) => !MODIFIERS.has(word));
  return ['interface', 'class', 'function'].includes(words[first]) || words[first + 1] === '(';
}

function splitAt(tokens, separator) {
  const parts = [[]];
  let depth = 0;
  for (const token of tokens) {
    depth += stepOf(token);
    if (depth === 0 && token.text === separator) parts.push([]);
    else parts.at(-1).push(token);
  }
  return parts;
}

/** The last doc comment in front of the first word, without its block tags: lines joined, lists kept as lines. */
function docBefore(tokens) {
  const comments = tokens.slice(0, tokens.findIndex(isCode)).filter(({ text }) => text.startsWith('/**'));
  const lines = (comments.at(-1)?.text ?? '')
    .replace(/^\/\*\*|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim());
  const tag = lines.findIndex((line) => line.startsWith('@'));
  return lines
    .slice(0, tag === -1 ? undefined : tag)
    .filter((line) => line !== '')
    .reduce((doc, line) => (doc === '' ? line : `${doc}${line.startsWith('- ') ? '\n' : ' '}${line}`), '');
}

/** Types on one line, without comments and without `readonly`, which every one of them has. */
function textOf(tokens, source) {
  const code = tokens.filter(isCode);
  if (code.length === 0) return '';
  return code
    .map(({ text, start }, index) => (index > 0 && /\s/.test(source[start - 1]) ? ` ${text}` : text))
    .join('')
    .replace(/^\| /, '')
    .replace(/\breadonly /g, '');
}
