/** Whether Troupe does as well as the plain SDK client. Pure. */

/** `worse` if Troupe lacks anything that the SDK client gets. */
export function compare(sdk, troupe) {
  if (sdk.failure !== undefined) return troupe.failure === undefined ? 'better' : 'equal';
  if (troupe.failure !== undefined) return 'worse';
  const lists = ['tools', 'prompts', 'resources'];
  const lacking = lists.some((list) => sdk[list].some((name) => !troupe[list].includes(name)));
  return lacking ? 'worse' : 'equal';
}

export function inWords({ failure, tools, prompts, resources }) {
  if (failure !== undefined) return `failed (${failure.replaceAll(/\s+/g, ' ').slice(0, 200)})`;
  return `${tools.length} tools, ${prompts.length} prompts, ${resources.length} resources`;
}
