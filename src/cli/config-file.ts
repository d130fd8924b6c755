/** The content of a configuration file that names the given servers. */
import { inputsWanted } from '../config/expand.js';
import type { ServerSpec } from '../config/merge.js';

/** Plain JSON: the entries as they are written, and what they say about the answers they refer to. */
export function toConfigFile(servers: readonly ServerSpec[]): object {
  const inputs = new Map<string, object>();
  for (const { config, inputs: declared } of servers) {
    for (const name of inputsWanted(config)) {
      const id = name.slice('input:'.length);
      const spec = declared?.get(id);
      if (spec !== undefined && !inputs.has(id)) inputs.set(id, { type: kindOf(spec), ...spec });
    }
  }
  return {
    mcpServers: Object.fromEntries(servers.map(({ name, config }) => [name, config])),
    ...(inputs.size > 0 && { inputs: [...inputs.values()] }),
  };
}

function kindOf({ options }: { readonly options?: readonly string[] }): string {
  return options === undefined ? 'promptString' : 'pickString';
}
