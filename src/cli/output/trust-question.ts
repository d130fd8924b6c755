/**
 * Shows what would run or be reached, as a person must see it before saying yes. Nothing is hidden: an invisible
 * character, and one that looks like another, is shown by its number. Every argument and every value is shown, whole up to the longest possible path; what is
 * longer is shown by its start, its end and the length between. Runs in a browser.
 */
import type { FoundHere } from '../../trust/found-here.js';
import type { PrivateNetwork } from '../../trust/asked-address.js';
import type { TrustRequest } from '../../trust/trust-request.js';
import { visibleName } from '../../text/visible-text.js';

const MAX_SHOWN = 180;
/** The maximum length of a path, and longer than any host name. */
const MAX_DECIDING = 4_096;
const END = 60;
const MAX_LISTED = 40;
/** A longer list gets a line for each of its items. */
const LINE = 100;

/** The source of the question, and a line for everything that decides what happens. */
export function renderQuestion(request: TrustRequest, found: FoundHere = {}): string {
  const { server, source, folder, command = request.headersHelper } = request;
  const effect = command === undefined ? 'connect to a server' : 'run a program on this computer';
  return [
    `'${visible(server, MAX_SHOWN)}' in ${visible(source)}, a file of the project in ${visible(folder, MAX_DECIDING)}, would ${effect}:`,
    ...renderRequest(request, found).map((line) => `    ${line}`),
  ].join('\n');
}

/** A line for everything that decides what happens, or several. */
export function renderRequest(request: TrustRequest, found: FoundHere = {}): string[] {
  const {
    command,
    args = [],
    cwd,
    envFile,
    url,
    network,
    signIn = [],
    headers = [],
    headersHelper,
  } = request;
  const { variables, env, asks = [], inputs = {}, proxy, keepDaemons, callbackPort } = request;
  const { certificates = [], forwardHeaders = [], contents = {} } = request;
  const proposals = Object.entries(inputs).map(
    ([id, text]) => `${toWord(`\${input:${id}}`)} = ${toWholeWord(text)}`,
  );
  const folder = found.folder ?? cwd;
  const facts: readonly (readonly [label: string, text: string | readonly string[]])[] = [
    ['program', command === undefined ? '' : withPlace(toWholeWord(command), found.program)],
    ['arguments', args.map((arg) => toWholeWord(arg))],
    ['in folder', folder === undefined ? '' : toWholeWord(folder)],
    [
      'address',
      url === undefined ? '' : `${toWholeWord(url)}${network === undefined ? '' : ` (${NETWORKS[network]})`}`,
    ],
    ['through the proxy', proxy === undefined ? '' : toWholeWord(proxy)],
    ['with the certificates', listed(certificates.map(toWord), ', ')],
    ['signs in at', signIn.map((address) => toWholeWord(address))],
    ['headers', listed(headers.map(toWord), ', ')],
    ['headers passed on from clients', listed(forwardHeaders.map(toWord), ', ')],
    ['the sign-in leads back to the port', callbackPort === undefined ? '' : String(callbackPort)],
    ['program for headers', headersHelper === undefined ? '' : toWholeWord(headersHelper)],
    [
      'reads of your variables',
      variables.includes('*') ? 'all of them' : listed(variables.map(toWord), ', '),
    ],
    ['sets variables', Object.entries(env).map(([name, value]) => `${toWord(name)} = ${shownValue(value)}`)],
    ['sets variables from the file', envFile === undefined ? '' : toWholeWord(envFile)],
    [
      'keeps running in the background',
      keepDaemons === true ? 'processes that the program leaves behind' : '',
    ],
    ['asks you for', listed(asks.map(toWord), ', ')],
    ['proposes the answers', listed(proposals, ', ')],
    ['trusted with the contents of', Object.keys(contents).map((file) => toWholeWord(file))],
  ];
  return facts.flatMap(([label, text]) => (text.length === 0 ? [] : lines(label, text)));
}

const NETWORKS: Readonly<Record<PrivateNetwork, string>> = {
  'this-machine': 'on this computer',
  'link-local': 'link-local: for services of this computer or its cloud',
  private: 'in a private network',
};

/** A list that is too long for a line has one for each of its items. */
function lines(label: string, text: string | readonly string[]): readonly string[] {
  if (typeof text === 'string') return [`${label}: ${text}`];
  const line = `${label}: ${text.join(label === 'arguments' ? ' ' : ', ')}`;
  return line.length <= LINE ? [line] : [`${label}:`, ...text.map((item) => `  ${item}`)];
}

function shownValue(value: string | null): string {
  return value === null ? '(not shown, may be a secret)' : toWholeWord(value);
}

function withPlace(command: string, program: FoundHere['program']): string {
  if (program === undefined) return command;
  return `${command} (${typeof program === 'string' ? PLACES[program] : toWholeWord(program.file)})`;
}

const PLACES = {
  'in-own-path': 'looked for in the PATH that it sets',
  'not-found': 'not found in your PATH',
};

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
  if (text.length <= most) return visibleName(text);
  const start = most - END;
  const hidden = text.length - start - END;
  return `${visibleName(text.slice(0, start))} …${hidden} characters… ${visibleName(text.slice(-END))}`;
}
