/**
 * What would run or be reached, as a person has to see it before saying yes.
 * Nothing is hidden: what cannot be seen is shown by its number, and a long text by its start, its end and how much is
 * between. Program, folder, address and proposed answers are shown whole, up to what a path or an address can have.
 */
import type { TrustRequest } from '../options.js';
import { visibleText } from './visible-text.js';

const MOST_SHOWN = 180;
/** As long as a path may be, and longer than the name of any host. */
const MOST_DECIDING = 4_096;
const END = 60;
const MOST_LISTED = 40;

/** Who asks, and a line for everything that decides what happens. */
export function renderQuestion(request: TrustRequest): string {
  const { server, source, folder, command } = request;
  const wish = command === undefined ? 'to be reached' : 'to run a program on this machine';
  return [
    `'${visible(server)}' wants ${wish}. So says ${visible(source)}, a file of the project in ${visible(folder, MOST_DECIDING)}:`,
    ...renderRequest(request).map((line) => `    ${line}`),
  ].join('\n');
}

/** A line for everything that decides what happens. */
export function renderRequest(request: TrustRequest): string[] {
  const { command, args = [], cwd, url, headers = [], variables, env, asks = [], inputs = {} } = request;
  const proposals = Object.entries(inputs).map(
    ([id, text]) => `${toWord(`\${input:${id}}`)} = ${toWholeWord(text)}`,
  );
  const facts: readonly (readonly [label: string, text: string])[] = [
    ['program', command === undefined ? '' : toWholeWord(command)],
    ['arguments', listed(args.map(toWord), ' ')],
    ['in folder', cwd === undefined ? '' : toWholeWord(cwd)],
    ['address', url === undefined ? '' : toWholeWord(url)],
    ['headers', listed(headers.map(toWord), ', ')],
    [
      'reads of your variables',
      variables.includes('*') ? 'all of them' : listed(variables.map(toWord), ', '),
    ],
    ['sets variables', listed(env.map(toWord), ', ')],
    ['asks you for', listed(asks.map(toWord), ', ')],
    ['answers by itself', listed(proposals, ', ')],
  ];
  return facts.flatMap(([label, text]) => (text === '' ? [] : [`${label}: ${text}`]));
}

function listed(words: readonly string[], separator: string): string {
  const rest = words.length - MOST_LISTED;
  return [...words.slice(0, MOST_LISTED), ...(rest > 0 ? [`and ${rest} more`] : [])].join(separator);
}

function toWord(text: string): string {
  return asWord(text, MOST_SHOWN);
}

/** Of what decides what is run or reached. */
function toWholeWord(text: string): string {
  return asWord(text, MOST_DECIDING);
}

/** In quotes where it could be taken for several words, or for none. */
function asWord(text: string, most: number): string {
  return text === '' || /[\s"]|\\u\{/.test(text)
    ? `"${visible(text.replaceAll(/["\\]/g, '\\$&'), most)}"`
    : visible(text, most);
}

function visible(text: string, most = MOST_SHOWN): string {
  return visibleText(text.length <= most ? text : cut(text, most - END));
}

function cut(text: string, start: number): string {
  const hidden = text.length - start - END;
  return `${text.slice(0, start)} …${hidden} characters… ${text.slice(-END)}`;
}
