/**
 * The results of earlier runs, so that an interrupted run can continue and an unchanged mutant is not run again.
 *
 * A catch is valid as long as the machines and the test that caught it are unchanged; a survival as long as the machines
 * and all tests are.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export class Memory {
  #path;
  #known = new Map();
  #hashes;

  /** `machines` and `tests` are texts by file. */
  constructor(project, machines, tests) {
    this.#path = join(project, 'node_modules/.cache/troupe-mutants.jsonl');
    const each = [...tests].map(([file, text]) => [file, hash(text)]);
    this.#hashes = { machines: hash([...machines.values()]), tests: hash(each), of: new Map(each) };
    if (!existsSync(this.#path)) return;
    for (const line of readFileSync(this.#path, 'utf8').split('\n')) {
      const result = read(line);
      if (result !== undefined && this.#holds(result)) this.#known.set(result.id, result);
    }
  }

  get(id) {
    return this.#known.get(id);
  }

  keep({ id, caughtBy, how }) {
    const { machines, tests, of } = this.#hashes;
    const result = { id, caughtBy, how, machines, tests: of.get(caughtBy) ?? tests };
    this.#known.set(id, result);
    mkdirSync(dirname(this.#path), { recursive: true });
    appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
  }

  #holds({ caughtBy, machines, tests }) {
    const { of } = this.#hashes;
    return machines === this.#hashes.machines && tests === (of.get(caughtBy) ?? this.#hashes.tests);
  }
}

function hash(value) {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

/** An incomplete last line is ignored. */
function read(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
