/** Keeps the runs of this bench in an uncommitted file, for `--continue`. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('../../node_modules/.cache/troupe-bench/runs.json', import.meta.url));

/**
 * @param {boolean} goesOn Whether kept runs count
 * @param {string} kind The options of the measurement; kept runs of another kind never count
 */
export function keptRuns(goesOn, kind, file = FILE) {
  const kept = goesOn ? read(file) : undefined;
  const runs = kept?.kind === kind ? kept.runs : {};
  return {
    of: (key) => runs[key] ?? [],
    keep(key, list) {
      runs[key] = list;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(`${file}.new`, JSON.stringify({ kind, runs }));
      renameSync(`${file}.new`, file);
    },
  };
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
