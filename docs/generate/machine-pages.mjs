/**
 * docs/machines/NAME.{mmd,scxml,svg,md}: one chart in four forms.
 */
import {
  allStates,
  chartHash,
  chartModel,
  shortId,
  toMermaid,
  toScxml,
  toTransitionTable,
} from 'mcp-troupe/charts';
import { STYLES } from './chart-styles.mjs';
import { chartSvg } from './chart-svg.mjs';
import { cell, code, page, table } from './markdown.mjs';

/**
 * @param {import('xstate').AnyStateMachine} machine
 * @returns {Promise<Record<string, string>>} file name to content
 */
export async function machineFiles(machine) {
  const model = chartModel(machine);
  const name = fileNameOf(model);
  return {
    [`${name}.md`]: machinePage(model),
    [`${name}.mmd`]: toMermaid(model),
    [`${name}.scxml`]: toScxml(model),
    [`${name}.svg`]: await chartSvg(model, STYLES[model.root.key]),
  };
}

/** `signIn` is `sign-in`, as its source is called. */
function fileNameOf({ root }) {
  return root.key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function machinePage(model) {
  const { key } = model.root;
  const name = fileNameOf(model);
  const states = allStates(model).slice(1);
  const rows = states.map((state) => [
    code(shortId(model, state.id)),
    cell(state.description ?? ''),
    list(state.tags),
    list(state.invokes.map(({ src }) => src)),
    list(state.entry),
    list(state.exit),
  ]);
  return page(`The ${key} machine`, `\`machines/${name}.machine.ts\``, [
    `Chart hash: \`${chartHash(model)}\`. Also as [SVG](${name}.svg), [SCXML](${name}.scxml) and [Mermaid](${name}.mmd).`,
    `![The ${key} machine](${name}.svg)`,
    '## States',
    table(['State', 'Meaning', 'Tags', 'Runs', 'On entry', 'On exit'], rows),
    '## Transitions',
    'Branches of one event are tried from top to bottom. A row without a target stays in its state.',
    toTransitionTable(model),
    '## Diagram',
    `\`\`\`mermaid\n${toMermaid(model)}\`\`\``,
  ]);
}

function list(names) {
  return names.map(code).join(', ');
}
