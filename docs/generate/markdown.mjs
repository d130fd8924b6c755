/**
 * The few pieces of Markdown that the generated pages are made of.
 */

/** @param {string} title @param {string} source what the page is generated from @param {string[]} blocks */
export function page(title, source, blocks) {
  const note = `<!-- Generated from ${source}. Change that, then run: npm run docs -->`;
  const written = [`# ${title}`, note, ...blocks].filter((block) => block !== '');
  return written.map((block) => block.trimEnd()).join('\n\n') + '\n';
}

/** @param {string[]} header @param {string[][]} rows */
export function table(header, rows) {
  return [header, header.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replace(/ +\|/g, ' |'))
    .join('\n');
}

/** @param {string} text */
export function code(text) {
  return text === '' ? '' : `\`${text}\``;
}

/** A type or a sentence as it may stand in a cell. @param {string} text */
export function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** @param {string} heading @param {import('./source-reader.mjs').Member[]} members */
export function memberTable(heading, members) {
  const rows = members.map(({ name, isOptional, type, doc }) => [
    code(isOptional ? `${name}?` : name),
    cell(code(type)),
    cell(doc),
  ]);
  return table([heading, 'Type', 'Meaning'], rows);
}

/** A type alias under its name. @param {import('./source-reader.mjs').Declaration} alias */
export function aliasBlock({ name, doc, type }) {
  return [`### ${name}`, ...(doc === '' ? [] : [doc]), `\`\`\`ts\n${type}\n\`\`\``].join('\n\n');
}
