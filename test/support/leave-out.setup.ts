/** Skips each test that is left out on this system, with the reason. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, type TestContext } from 'vitest';
import { LEFT_OUT } from './left-out.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** As the JSON reporter of vitest names it. */
function nameOf({ task }: TestContext): string {
  const names = [task.name];
  for (let { suite } = task; suite !== undefined; { suite } = suite) names.unshift(suite.name);
  return `${relative(ROOT, task.file.filepath).replaceAll('\\', '/')} > ${names.join(' ')}`;
}

beforeEach((context) => {
  const name = nameOf(context);
  const entry = LEFT_OUT.find(({ matches }) => matches(name));
  if (entry !== undefined) context.skip(entry.reason);
});
