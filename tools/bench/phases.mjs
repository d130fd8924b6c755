/**
 * What a start does with its processor time, from a profile: nothing is measured in the code that is measured.
 *
 * Each sample counts for the innermost function on its stack that belongs to a phase.
 */

/** Functions of the package by name. A name in several places must mean the same phase in all of them. */
export const PHASES = {
  resolve: ['loadConfig', 'validateEntry', 'expandConfig', 'literalSecrets'],
  spawn: ['spawnServer', 'guardServer', 'createStdio', 'childEnvironment', '#launch'],
  handshake: ['openInEra', 'maskIdentity'],
  list: ['wholeList', 'listAll', 'commit'],
  check: ['checkTools', 'checkExtras', '#judge', 'fingerprint'],
  publish: ['publish', '#flush', '#deliver', 'toLifecycle', 'statusOf', '#bringUpToDate'],
  cache: ['keep', 'writeFileAtomic', 'viaDraft', 'replaceFile', 'removeOld', 'readCatalog'],
};

/** Files whose functions belong to a phase, if no function on the stack does. */
const FILES = [
  ['garbage collection', /^\(garbage collector\)$/],
  ['loading', /^node:internal\/(?:modules|bootstrap|vm)/],
  ['chart', /\/xstate\//],
  ['publish', /\/rxjs\//],
  ['spawn', /\/chunks\/stdio|^node:(?:internal\/)?child_process/],
  ['handshake', /\/chunks\/(?:session|session-client)\.js$/],
  ['resolve', /\/chunks\/(?:configuration|load-config)\.js$/],
];

const BY_NAME = new Map(
  Object.entries(PHASES).flatMap(([phase, names]) => names.map((name) => [name, phase])),
);

function phaseOf({ functionName, url }) {
  const own = url.includes('/bundle/') ? BY_NAME.get(functionName) : undefined;
  return own ?? FILES.find(([, pattern]) => pattern.test(url === '' ? functionName : url))?.[0];
}

/**
 * @param profile of the inspector's profiler
 * @returns milliseconds by phase, the largest first; what waits counts for none
 */
export function byPhase({ nodes, samples, timeDeltas }) {
  const phases = new Map();
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const known = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const ofNode = (id) => {
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const phase = phaseOf(known.get(at));
      if (phase !== undefined) return phase;
    }
    return 'other';
  };
  const memo = new Map();
  samples.forEach((id, index) => {
    if (known.get(id).functionName === '(idle)') return;
    if (!memo.has(id)) memo.set(id, ofNode(id));
    const phase = memo.get(id);
    phases.set(phase, (phases.get(phase) ?? 0) + timeDeltas[index] / 1_000);
  });
  return Object.fromEntries([...phases].sort(([, a], [, b]) => b - a));
}
