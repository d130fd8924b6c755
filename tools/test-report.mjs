/** What the JSON report of vitest says. */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * The counts of a report, and a line for each failed test with the reason. A skipped test counts as failed, and so does a run
 * without tests or with a failure outside the tests.
 */
export function readTestReport(path, hasPassed, project) {
  if (!existsSync(path)) return { passed: 0, failed: 1, failures: [] };
  const { testResults, ...counts } = JSON.parse(readFileSync(path, 'utf8'));
  const { numPassedTests: passed, numFailedTests, numPendingTests, numTodoTests } = counts;
  const failed = numFailedTests + numPendingTests + numTodoTests;
  const isSound = hasPassed && passed > 0;
  return {
    passed,
    failed: isSound ? failed : Math.max(failed, 1),
    failures: testResults.flatMap((file) => failuresOf(file, relative(project, file.name))),
  };
}

function failuresOf({ message, assertionResults }, file) {
  const failed = assertionResults.filter(({ status }) => status !== 'passed');
  if (failed.length === 0) return message ? [lineOf(file, 'outside its tests', message)] : [];
  return failed.map(({ fullName, failureMessages }) => lineOf(file, fullName, failureMessages?.[0]));
}

function lineOf(file, test, message = '') {
  return `FAILED  ${file} > ${test}: ${message.split('\n', 1)[0]}`;
}
