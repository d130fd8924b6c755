/**
 * Reads a file of cases. A file that is none is an error; what is wrong with one case is kept with that case, so that
 * the others still run.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CASE_PARTS } from './vocabulary.mjs';

/** The file as a whole cannot be used. */
export class CaseFileError extends Error {
  name = 'CaseFileError';
}

/**
 * The cases of a file, and the folder everything of them starts in. Each case has `problems`: why it cannot be run,
 * as sentences. Throws a `CaseFileError`.
 */
export function readCaseFile(file) {
  const { cases } = parse(file);
  if (!Array.isArray(cases)) throw new CaseFileError(`${file}: 'cases' should be a list`);
  const ids = cases.map((kase) => kase?.id);
  return {
    folder: dirname(resolve(file)),
    cases: cases.map((kase, index) => readCase(kase, index, ids.indexOf(kase?.id) !== index)),
  };
}

function parse(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    throw new CaseFileError(`${file}: ${error.message}`, { cause: error });
  }
}

function readCase(kase, index, isDoubled) {
  const id = typeof kase?.id === 'string' ? kase.id : `case ${index + 1}`;
  const problems = [
    ...(typeof kase?.id === 'string' ? [] : ["the case lacks an 'id'"]),
    ...(isDoubled ? [`another case has the id '${id}'`] : []),
    ...Object.entries(CASE_PARTS).flatMap(([part, fits]) => partProblems(kase, part, fits)),
  ];
  return { ...kase, id, kind: kase?.kind ?? '', problems: [...problems, ...orderProblems(kase, problems)] };
}

function partProblems(kase, part, fits) {
  if (kase?.[part] !== undefined) return fits(kase[part], part);
  return part === 'client' ? [] : [`the case lacks '${part}'`];
}

/** What only the whole of a sound case can show. */
function orderProblems(kase, problems) {
  if (problems.length > 0) return [];
  const names = kase.steps.map((step) => step.do);
  const death = names.indexOf('kill-host');
  const late = death === -1 ? [] : names.slice(death + 1).filter((name) => name !== 'wait');
  return late.map((name) => `nothing but 'wait' is possible after 'kill-host', not '${name}'`);
}
