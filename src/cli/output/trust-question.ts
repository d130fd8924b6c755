/**
 * Shows what would run or be reached, as a person must see it before saying yes. Nothing is hidden: an invisible
 * character is shown by its number, and a long text by its start, its end and the length between. Program, folder,
 * address and proposed answers are shown whole, up to the longest possible path or address.
 */
import type { TrustRequest } from '../../trust/trust-request.js';
import { visibleText } from './visible-text.js';

const MAX_SHOWN = 180;
/** The maximum length of a path, and longer than any host name. */
const MAX_DECIDING = 4_096;
const END = 60;
const MAX_LISTED = 40;

/** The source of the question, and a line for everything that decides what happens. */
export function renderQuestion(request: TrustRequest): string {
  const { server, source, folder, command = request.headersHelper } = request;
  const wish = command === undefined ? 'to be reached' : 'to run a program on this machine';
  return [
    `'${visible(server)}' wants ${wish}. So says ${visible(source)}, a file of the project in ${visible(folder, MAX_DECIDING)}:`,
    ...renderRequest(request).map((line) => `    ${line}`),
  ].join('\n');
}

/** A line for everything that decides what happens. */
export function renderRequest(request: TrustRequest): string[] {
  const { command, args = [], cwd, envFile, url, headers = [], headersHelper } = request;
  const { variables, env, asks = [], inputs = {}, proxy, certificates = [], forwardHeaders = [] } = request;
  const proposals = Object.entries(inputs).map(
    ([id, text]) => `${toWord(`\${input:${id}}`)} = ${toWholeWord(text)}`,
  );
  const facts: readonly (readonly [label: string, text: string])[] = [
    ['program', command === undefined ? '' : toWholeWord(command)],
    ['arguments', listed(args.map(toWord), ' ')],
    ['in folder', cwd === undefined ? '' : toWholeWord(cwd)],
    ['address', url === undefined ? '' : toWholeWord(url)],
    ['through the proxy', proxy === undefined ? '' : toWholeWord(proxy)],
    ['with the certificates', listed(certificates.map(toWord), ', ')],
    ['headers', listed(headers.map(toWord), ', ')],
    ['headers passed on from clients', listed(forwardHeaders.map(toWord), ', ')],
    ['program for headers', headersHelper === undefined ? '' : toWholeWord(headersHelper)],
    [
      'reads of your variables',
      variables.includes('*') ? 'all of them' : listed(variables.map(toWord), ', '),
    ],
    ['sets variables', listed(env.map(toWord), ', ')],
    ['sets variables from the file', envFile === undefined ? '' : toWholeWord(envFile)],
    ['asks you for', listed(asks.map(toWord), ', ')],
    ['proposes the answers', listed(proposals, ', ')],
  ];
  return facts.flatMap(([label, text]) => (text === '' ? [] : [`${label}: ${text}`]));
}

function listed(words: readonly string[], separator: string): string {
  const rest = words.length - MAX_LISTED;
  return [...words.slice(0, MAX_LISTED), ...(rest > 0 ? [`and ${rest} more`] : [])].join(separator);
}

function toWord(text: string): string {
  return asWord(text, MAX_SHOWN);
}

/** For text that decides what is run or reached. */
function toWholeWord(text: string): string {
  return asWord(text, MAX_DECIDING);
}

/** Quotes it if it could be read as several words, or as none. */
function asWord(text: string, most: number): string {
  return text === '' || /[\s"]|\\u\{/.test(text)
    ? `"${visible(text.replaceAll(/["\\]/g, '\\$&'), most)}"`
    : visible(text, most);
}

function visible(text: string, most = MAX_SHOWN): string {
  return visibleText(text.length <= most ? text : cut(text, most - END));
}

function cut(text: string, start: number): string {
  const hidden = text.length - start - END;
  return `${text.slice(0, start)} …${hidden} characters… ${text.slice(-END)}`;
}
