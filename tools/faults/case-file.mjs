/**
 * Reads a file of cases. An unusable file is an error; the problems of a single case are kept with it, so that the
 * others still run.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { settingProblems } from './client-settings.mjs';
import { CASE_PARTS } from './vocabulary.mjs';

const USUAL_NAME = 'cases.json';
const USUAL_HTTP_SERVER = 'faulty-http.mjs';
const OPTIONAL = ['client', 'http'];

/** The file as a whole cannot be used. */
export class CaseFileError extends Error {
  name = 'CaseFileError';
}

/**
 * The cases of a file, or of the `cases.json` of a folder, and the folder in which their programs start. Each case has
 * `problems`, the reasons as sentences why it cannot run, and `server`, the HTTP server that it needs, or undefined.
 * Throws a `CaseFileError`.
 */
export function readCaseFile(path) {
  const file = isFolder(path) ? join(path, USUAL_NAME) : path;
  const { cases } = parse(file);
  if (!Array.isArray(cases)) throw new CaseFileError(`${file}: 'cases' should be a list`);
  const folder = dirname(resolve(file));
  const ids = cases.map((kase) => kase?.id);
  const httpServer = httpServerOf(cases, folder);
  return {
    folder,
    cases: cases.map((kase, index) => readCase(kase, index, ids.indexOf(kase?.id) !== index, httpServer)),
  };
}

function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function parse(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) ?? {};
  } catch (error) {
    throw new CaseFileError(`${file}: ${error.message}`, { cause: error });
  }
}

function readCase(kase, index, isDuplicate, httpServer) {
  const id = typeof kase?.id === 'string' ? kase.id : `case ${index + 1}`;
  const problems = [
    ...(typeof kase?.id === 'string' ? [] : ["the case lacks an 'id'"]),
    ...(isDuplicate ? [`another case has the id '${id}'`] : []),
    ...Object.entries(CASE_PARTS).flatMap(([part, fits]) => partProblems(kase, part, fits)),
  ];
  if (problems.length > 0) return { ...kase, id, kind: kindOf(kase), problems };
  return {
    ...kase,
    id,
    kind: kindOf(kase),
    problems: wholeProblems(kase),
    server: serverOf(kase, httpServer),
  };
}

function kindOf(kase) {
  return typeof kase?.kind === 'string' ? kase.kind : '';
}

function partProblems(kase, part, fits) {
  if (kase?.[part] !== undefined) return fits(kase[part], part);
  return OPTIONAL.includes(part) ? [] : [`the case lacks '${part}'`];
}

/** Problems of a whole case whose parts are valid. */
function wholeProblems(kase) {
  return [...orderProblems(kase), ...startProblems(kase), ...settingProblems(kase)];
}

/** Problems of the order of the steps. */
function orderProblems({ steps }) {
  const names = steps.map((step) => step.do);
  const death = names.indexOf('kill-host');
  const late = death === -1 ? [] : names.slice(death + 1).filter((name) => name !== 'wait');
  return late.map((name) => `nothing but 'wait' is possible after 'kill-host', not '${name}'`);
}

/** Some steps need a single server, others a configuration. */
function startProblems({ start, steps }) {
  const ofConfig = ['load', 'replace-config'];
  const ofServer = ['connect', 'connect-many'];
  const misplaced = start.via === 'config' ? ofServer : ofConfig;
  return steps
    .filter((step) => misplaced.includes(step.do))
    .map((step) => `'${step.do}' is not a step of a case that starts via '${start.via}'`);
}

/** The HTTP server of a case, or the one that an entry of its configuration needs. */
function serverOf({ start, http }, httpServer) {
  if (start.via === 'http') return start;
  const wanted = start.http ?? http;
  return typeof wanted === 'string' ? httpServer(wanted) : wanted;
}

/** How to start the HTTP server of the kit in a mode: the default of the format, or as another case of the kit does. */
function httpServerOf(cases, folder) {
  const hasMode = (arg) => typeof arg === 'string' && arg.startsWith('--mode=');
  const starts = cases.map((kase) => kase?.start).filter((start) => start?.via === 'http');
  const model = starts.find(({ args }) => Array.isArray(args) && args.some(hasMode));
  const isUsual = model === undefined || existsSync(join(folder, USUAL_HTTP_SERVER));
  const usual = { command: 'node', args: [USUAL_HTTP_SERVER, '--mode=', '--port=0'] };
  const { args, ...program } = isUsual ? usual : model;
  return (mode) => ({ ...program, args: args.map((arg) => (hasMode(arg) ? `--mode=${mode}` : arg)) });
}
