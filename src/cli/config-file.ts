/** The content of a configuration file that names the given servers. */
import { inputsWanted } from '../config/expand.js';
import type { ServerSpec } from '../config/merge.js';
import { rewriteReferences } from '../config/rewrite-references.js';
import type { ServerConfig } from '../options.js';

const PREFIX = 'input:';

/**
 * Plain JSON: the entries as they are written, and what they say about the answers they refer to. Where two sources call
 * different answers the same, one of them gets another name: what a person answers to one is not for the other.
 */
export function toConfigFile(servers: readonly ServerSpec[]): object {
  const names = new AnswerNames();
  const inputs = new Map<string, object>();
  const entries = servers.map((spec) => {
    for (const id of idsOf(spec)) {
      const declared = spec.inputs?.get(id);
      const name = names.of(spec.source, id);
      if (declared !== undefined) inputs.set(name, { type: kindOf(declared), ...declared, id: name });
    }
    return [spec.name, renamed(spec, names)] as const;
  });
  return {
    mcpServers: Object.fromEntries(entries),
    ...(inputs.size > 0 && { inputs: [...inputs.values()] }),
  };
}

/** What each answer of each source is called in the one file. */
class AnswerNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  of(source: string, id: string): string {
    const key = JSON.stringify([source, id]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    let name = id;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${id}-${number}`;
    this.#taken.add(name);
    this.#names.set(key, name);
    return name;
  }
}

function renamed({ source, config }: ServerSpec, names: AnswerNames): ServerConfig {
  return rewriteReferences(config, ({ origin, name }) => {
    if (origin !== 'input') return undefined;
    const id = name.slice(PREFIX.length);
    const other = names.of(source, id);
    return other === id ? undefined : { template: `\${${PREFIX}${other}}` };
  });
}

function idsOf({ config }: ServerSpec): readonly string[] {
  return inputsWanted(config).map((name) => name.slice(PREFIX.length));
}

function kindOf({ options }: { readonly options?: readonly string[] }): string {
  return options === undefined ? 'promptString' : 'pickString';
}
