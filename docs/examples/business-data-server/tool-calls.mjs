/** Listing and calling the tools: arguments are checked first, and each kind of failure becomes its own kind of error. */
import { problemsOf } from './check-arguments.mjs';
import { DataError } from './data-error.mjs';
import { invalidParams, toolFailed } from './rpc-error.mjs';
import { CATEGORY_ID, TOOLS } from './tools.mjs';

/**
 * @typedef {import('./tools.mjs').Tool} Tool
 * @typedef {import('./check-arguments.mjs').Problem} Problem
 */

/**
 * As they are listed; the description of `categoryId` names the categories there are.
 * @param {import('./data-folder.mjs').DataFolder} folder
 */
export async function listTools(folder) {
  const ids = await folder.categoryIds();
  const categoryId = { ...CATEGORY_ID, description: `Id of the category. There are: ${ids.join(', ')}.` };
  return TOOLS.map(({ name, title, description, inputSchema }) => ({
    name,
    title,
    description,
    inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, categoryId } },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  }));
}

/**
 * @param {Record<string, unknown>} params
 * @param {import('./data-folder.mjs').DataFolder} folder
 * @param {import('./log.mjs').Log} log
 */
export async function callTool(params, folder, log) {
  const { name, arguments: args = {} } = params;
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined)
    throw invalidParams(`there is no tool ${JSON.stringify(name)}`, {
      available: TOOLS.map((one) => one.name),
    });
  refuseIfAny(tool, problemsOf(args, tool.inputSchema));
  const checked = /** @type {import('./tools.mjs').Arguments} */ (args);
  try {
    const category = await folder.read(checked.categoryId);
    const allowed = category === undefined ? await folder.categoryIds() : [];
    if (category === undefined)
      throw refusal(tool, [{ at: 'categoryId', problem: 'there is no such category', allowed }]);
    refuseIfAny(tool, tool.mistakes(category, checked));
    const found = tool.run(category, checked);
    log.info('tools', `${tool.name} of ${category.id}`);
    return { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found };
  } catch (error) {
    if (error instanceof DataError) throw toolFailed(tool.name, error.message);
    throw error;
  }
}

/**
 * @param {Tool} tool
 * @param {Problem[]} problems
 */
function refuseIfAny(tool, problems) {
  if (problems.length > 0) throw refusal(tool, problems);
}

/**
 * @param {Tool} tool
 * @param {Problem[]} problems
 */
function refusal({ name }, problems) {
  const [first] = problems;
  const allowed = first?.allowed === undefined ? '' : ` (allowed: ${first.allowed.join(', ')})`;
  return invalidParams(`${first?.at || 'arguments'}: ${first?.problem}${allowed}`, { tool: name, problems });
}
