/** Validates the option `handlers`, and refuses declared capabilities that no handler can serve. */
import { isJsonObject } from '../json/json-object.js';
import { isRoot } from './roots.js';

interface OptionProblem {
  readonly field: string;
  readonly message: string;
}

const ANSWERED = ['roots', 'sampling', 'elicitation'] as const;

export function handlersProblems(handlers: unknown, capabilities: unknown): readonly OptionProblem[] {
  if (handlers !== undefined && !isJsonObject(handlers)) {
    return [{ field: 'handlers', message: 'expected an object' }];
  }
  const { roots, sampling, elicitation } = handlers ?? {};
  const problems: OptionProblem[] = [];
  const expect = (isFine: boolean, field: string, what: string): void => {
    if (!isFine) problems.push({ field: `handlers.${field}`, message: `expected ${what}` });
  };
  expect(
    isUnset(roots) || isFunction(roots) || (Array.isArray(roots) && roots.every(isRoot)),
    'roots',
    "a function, or a list of { uri: 'file://…', name }",
  );
  expect(
    isUnset(sampling) || isFunction(sampling) || isSamplingOptions(sampling),
    'sampling',
    'a function, or { createMessage, tools, context }',
  );
  expect(
    isUnset(elicitation) || isFunction(elicitation) || isElicitationHandlers(elicitation),
    'elicitation',
    "a function, or an object with the functions 'form' and 'url', or one of them",
  );
  for (const name of ANSWERED) {
    const isDeclared = isJsonObject(capabilities) && !isUnset(capabilities[name]);
    if (!isDeclared || !isUnset(handlers?.[name])) continue;
    problems.push({ field: `capabilities.${name}`, message: `needs 'handlers.${name}', which answers` });
  }
  return problems;
}

function isSamplingOptions(sampling: unknown): boolean {
  if (!isJsonObject(sampling)) return false;
  const { createMessage, tools, context } = sampling;
  return isFunction(createMessage) && [tools, context].every((flag) => isUnset(flag) || isFlag(flag));
}

function isElicitationHandlers(elicitation: unknown): boolean {
  if (!isJsonObject(elicitation)) return false;
  const given = [elicitation['form'], elicitation['url']].filter((handler) => !isUnset(handler));
  return given.length > 0 && given.every(isFunction);
}

function isUnset(value: unknown): boolean {
  return value === undefined;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
}
