/**
 * Which entries a person must approve before anything of them is spawned or expanded, and what that person is shown.
 *
 * R1. Decided and shown from the unexpanded entry: nothing of an unapproved entry is looked up.
 * R2. An approval counts for one server name, one folder and one wording of the entry. The same wording in another
 *     folder runs other files, so it is another question. What the file proposes for an answer the entry refers to
 *     belongs to the wording, since it is used where nobody is asked.
 * R3. Everything that decides what runs is shown, by its name where it may hold a secret. Program, folder and host are
 *     shown in full, whatever stands in for them.
 */
import type { TrustPolicy, TrustRequest } from '../options.js';
import { askedAddress } from './asked-address.js';
import { hashOf } from './entry-hash.js';
import { inputsWanted, variablesWanted } from './expand.js';
import { declaredInputs } from './inputs.js';
import { MASK } from './mask.js';
import type { ServerSpec } from './merge.js';

/**
 * Only entries found in a project's file, since others than the user may have written it: those that start a program,
 * and those that want a variable of the host or an answer of the person, or would tell a remote server who the person is
 * and where they work. A policy of `all` or `remote-only` answers for the person.
 */
export function needsTrust({ scope, config }: ServerSpec, policy?: TrustPolicy): boolean {
  if (scope !== 'project' || policy === 'all') return false;
  if ('command' in config) return true;
  return policy !== 'remote-only' && (variablesWanted(config).length > 0 || inputsWanted(config).length > 0);
}

/** Whether a policy alone approves an entry of a project's file; a function is asked later, for what is to be started. */
export function isApprovedBy(policy: TrustPolicy | undefined, spec: ServerSpec): boolean {
  return policy === 'all' || (policy === 'remote-only' && 'url' in spec.config);
}

/** The question, with names of variables and never a value of one. Credentials and the query of an address are masked. */
export function toTrustRequest(spec: ServerSpec): TrustRequest {
  const { name, source, baseDir, config } = spec;
  const inputs = declaredInputs(spec);
  const asked = idsOf(config);
  const deciding = decidingIds(config);
  const proposals = inputs.flatMap(({ id, default: value, password }) =>
    value === undefined ? [] : [[id, password && !deciding.has(id) ? MASK : value]],
  );
  return {
    server: name,
    source,
    folder: baseDir,
    ...describeTarget(config),
    variables: variablesWanted(config),
    env: namesIn('env' in config ? config.env : undefined),
    ...(asked.length > 0 && { asks: asked }),
    ...(proposals.length > 0 && { inputs: Object.fromEntries(proposals) as Record<string, string> }),
    hash: hashOf({
      name,
      baseDir,
      entry: spec.ownHash ?? spec.hash,
      ...(inputs.length > 0 && { inputs }),
    }),
  };
}

function idsOf(config: ServerSpec['config']): readonly string[] {
  return inputsWanted(config).map((name) => name.replace(/^input:/, ''));
}

/** Of the answers that decide which program is run and where, or which server is reached. */
function decidingIds(config: ServerSpec['config']): ReadonlySet<string> {
  if ('url' in config) {
    const { deciding } = askedAddress(config);
    return new Set(deciding.map(({ name }) => name.replace(/^input:/, '')));
  }
  if (!('command' in config)) return new Set();
  const { args: _, env: __, ...place } = config;
  return new Set(idsOf(place));
}

function describeTarget(
  config: ServerSpec['config'],
): Pick<TrustRequest, 'transport' | 'command' | 'args' | 'cwd' | 'url' | 'headers'> {
  if ('command' in config) {
    const { command, args, cwd } = config;
    return {
      transport: 'stdio',
      command,
      ...(args !== undefined && { args }),
      ...(cwd !== undefined && { cwd }),
    };
  }
  if ('url' in config) {
    const { type = 'http', headers } = config;
    return {
      transport: type,
      url: askedAddress(config).text,
      ...(headers !== undefined && { headers: namesIn(headers) }),
    };
  }
  throw new TypeError('A server of this process needs no trust.');
}

function namesIn(record: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.keys(record).toSorted();
}
