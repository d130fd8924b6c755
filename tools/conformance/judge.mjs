/** Finds the problems in the results of a part. Pure. */

/** `chosen` are the scenarios of the run. Returns texts, each with its scenario. */
export function judge({ leg, scenarios: expected }, chosen, { code, scenarios, output }, { isWhole }) {
  const found = new Map(scenarios.map((scenario) => [scenario.name, scenario]));
  const missing = chosen.filter((name) => !found.has(name)).map((name) => `${name}: was not run`);
  const faults = scenarios.flatMap((scenario) => {
    const { name } = scenario;
    const meant = expected[name];
    if (meant === undefined) return [`${name}: is not expected; add it to expected.mjs`];
    return faultsOf(leg, meant, scenario).map((fault) => `${name}: ${fault}`);
  });
  const hasFailed = isWhole && code !== 0 ? [`the suite itself has failed (exit code ${code})`] : [];
  const problems = [...hasFailed, ...missing, ...faults];
  return scenarios.length === 0 ? [...problems, output] : problems;
}

function faultsOf(leg, { checks = 0, ends = 'done', lacks }, { passed, complaints, ended }) {
  if (lacks !== undefined) {
    return complaints.length === 0 ? ['passes now; expected.mjs expects that it fails'] : [];
  }
  return [
    ...complaints,
    ...(passed < checks ? [`only ${passed} of at least ${checks} checks passed`] : []),
    ...(leg === 'client' && ended !== ends
      ? [`the client has ended with '${ended}', not with '${ends}'`]
      : []),
  ];
}
