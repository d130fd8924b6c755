/** What the report of vitest says, compared with the list of tests that are left out. */

/** The lines of a summary, and whether all is well. */
export function judge({ testResults }, leftOut) {
  const files = testResults.map(({ name, ...file }) => ({ ...file, path: inProject(name) }));
  const tests = files.flatMap(({ path, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => {
      const name = `${path} > ${fullName}`;
      return { name, status, entry: leftOut.find(({ matches }) => matches(name)) };
    }),
  );
  const passed = tests.filter(({ status }) => status === 'passed');
  const failed = [
    ...tests
      .filter(({ status, entry }) => status === 'failed' && entry === undefined)
      .map(({ name }) => name),
    ...files.filter(hasFailedOutsideItsTests).map(({ path }) => path),
  ];
  const skipped = new Map();
  for (const { status, entry } of tests) {
    if (status === 'passed' || (status === 'failed' && entry === undefined)) continue;
    const reason = entry?.reason ?? 'skipped by itself';
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  const ran = new Set(files.map(({ path }) => path));
  const used = new Set(tests.map(({ entry }) => entry));
  const unknown = leftOut.filter((entry) => ran.has(entry.name.split(' > ')[0]) && !used.has(entry));
  const lines = [
    `${passed.length} of ${tests.length} tests passed`,
    ...[...skipped].map(([reason, count]) => `${count} left out: ${reason}`),
    ...passed
      .filter(({ entry }) => entry !== undefined)
      .map(({ name }) => `PASSES, though left out  ${name}`),
    ...unknown.map(({ name }) => `FAILED  no such test, though it is left out: ${name}`),
    ...failed.map((name) => `FAILED  ${name}`),
  ];
  return { lines, isGood: failed.length === 0 && unknown.length === 0 };
}

function inProject(path) {
  return path.replaceAll('\\', '/').split('/repo/').at(-1);
}

function hasFailedOutsideItsTests({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
}
