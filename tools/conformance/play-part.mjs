/** Runs one part or some of its scenarios, and judges the results. */
import { judge } from './judge.mjs';
import { runSuite } from './run-suite.mjs';

/**
 * `only` are the scenarios to run; default: all. `url` is the address of the gateway, `env` the environment of clients.
 *
 * @returns the results of each scenario, and the problems.
 */
export async function playPart(part, { only, url, env, onScenario, signal }) {
  const { leg, suite, scenarios } = part;
  const about = { leg, suite, url, env, onScenario, signal };
  if (only === undefined) {
    const found = await runSuite({ ...about, args: part.all });
    return {
      found: found.scenarios,
      problems: judge(part, Object.keys(scenarios), found, { isWhole: true }),
    };
  }
  const played = [];
  for (const name of only) {
    const found = await runSuite({ ...about, args: ['--scenario', name, ...(part.one ?? [])] });
    played.push({ found: found.scenarios, problems: judge(part, [name], found, { isWhole: false }) });
  }
  return {
    found: played.flatMap(({ found }) => found),
    problems: played.flatMap(({ problems }) => problems),
  };
}
