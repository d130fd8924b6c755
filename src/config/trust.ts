/**
 * Which entries a person must approve before anything of them is spawned or expanded, and what that person is shown.
 *
 * R1. Decided and shown from the unexpanded entry: nothing of an unapproved entry is looked up.
 * R2. An approval counts for one server name, one folder and one wording of the entry. The same wording in another
 *     folder runs other files, so it is another question.
 */
import type { TrustPolicy, TrustRequest } from '../options.js';
import { hashOf } from './entry-hash.js';
import { variablesWanted } from './expand.js';
import { maskUrl } from './mask.js';
import type { ServerSpec } from './merge.js';

/**
 * Only entries found in a project's file, since others than the user may have written it: those that start a program,
 * and those that want a variable of the host. A policy of `all` or `remote-only` answers for the person.
 */
export function needsTrust(spec: ServerSpec, policy?: TrustPolicy): boolean {
  if (spec.scope !== 'project' || policy === 'all') return false;
  if ('command' in spec.config) return true;
  return policy !== 'remote-only' && variablesWanted(spec.config).length > 0;
}

/** The question, with names of variables and never a value. Credentials and the query of an address are masked. */
export function toTrustRequest(spec: ServerSpec): TrustRequest {
  const { name, source, baseDir, config } = spec;
  return {
    server: name,
    source,
    variables: variablesWanted(config),
    hash: hashOf({ name, baseDir, entry: spec.hash }),
    ...describeTarget(config),
  };
}

function describeTarget(
  config: ServerSpec['config'],
): Pick<TrustRequest, 'transport' | 'command' | 'args' | 'url'> {
  if ('command' in config) {
    const { command, args } = config;
    return { transport: 'stdio', command, ...(args !== undefined && { args }) };
  }
  if ('url' in config) return { transport: config.type ?? 'http', url: maskUrl(config.url) };
  throw new TypeError('A server of this process needs no trust.');
}
