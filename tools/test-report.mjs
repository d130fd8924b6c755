/** What the JSON report of vitest says. */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { missingPrograms } from './optional-programs.mjs';

/**
 * The counts of a report, a line for each failed test with the reason, and a line for each test that needs a program which is
 * not installed. Any other skipped test counts as failed, and so does a run without tests or with a failure outside the tests.
 */
export function readTestReport(path, hasPassed, project, missing = missingPrograms()) {
  if (!existsSync(path)) return { passed: 0, failed: 1, failures: [], leftOut: [] };
  const { testResults, ...counts } = JSON.parse(readFileSync(path, 'utf8'));
  const { numPassedTests: passed, numFailedTests, numPendingTests, numTodoTests } = counts;
  const leftOut = testResults.flatMap((file) => leftOutOf(file, pathOf(file, project), missing));
  const failed = numFailedTests + numPendingTests + numTodoTests - leftOut.length;
  const isSound = hasPassed && passed > 0;
  return {
    passed,
    failed: isSound ? failed : Math.max(failed, 1),
    failures: testResults.flatMap((file) => failuresOf(file, pathOf(file, project), missing)),
    leftOut: leftOut.map(({ name, reason }) => `left out  ${name}: ${reason}`),
  };
}

/** With slashes, on every platform. */
function pathOf({ name }, project) {
  return relative(project, name).replaceAll('\\', '/');
}

function leftOutOf({ assertionResults }, file, missing) {
  const skipped = assertionResults.filter(({ status }) => status !== 'passed' && status !== 'failed');
  return skipped.flatMap((test) => missing.filter(({ matches }) => matches(nameOf(test, file))));
}

function failuresOf({ message, assertionResults }, file, missing) {
  const failed = assertionResults.filter(
    (test) => test.status !== 'passed' && !missing.some(({ matches }) => matches(nameOf(test, file))),
  );
  if (failed.length === 0) return message ? [lineOf(file, 'outside its tests', message)] : [];
  return failed.map(({ fullName, failureMessages }) => lineOf(file, fullName, failureMessages?.[0]));
}

function nameOf({ fullName }, file) {
  return `${file} > ${fullName}`;
}

function lineOf(file, test, message = '') {
  return `FAILED  ${file} > ${test}: ${message.split('\n', 1)[0]}`;
}
