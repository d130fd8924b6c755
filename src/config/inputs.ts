/**
 * Values that a person is asked for: `${input:ID}`, declared beside the servers as VS Code does. Each is asked for once
 * per source and proposal; what was answered is kept in memory only.
 */
import type { InputRequest, TroupeOptions } from '../options.js';
import { messageOf } from '../thrown.js';
import type { RawFailure } from '../transports/session-transport.js';
import { inputsWanted } from './expand.js';
import type { ReportProblem } from './find-servers.js';
import type { ServerSpec } from './merge.js';
import { printable } from './problem.js';
import { isObject } from './read-shape.js';
import { membersOf, valueOf, type TextTree } from './text-tree.js';

/** What a file says about one answer. */
export type InputSpec = Omit<InputRequest, 'server' | 'source'>;

export type Answers =
  { readonly values: Readonly<Record<string, string>> } | { readonly failure: RawFailure };

const PREFIX = 'input:';

/** The declarations of a file, at its top or beside the servers under `mcp`, by id. */
export function readInputs(tree: TextTree, report: ReportProblem): ReadonlyMap<string, InputSpec> {
  const top = membersOf(tree, tree.root);
  const below = top.filter(({ name }) => name === 'mcp').flatMap(({ node }) => membersOf(tree, node));
  const found = [...top, ...below].find(({ name }) => name === 'inputs');
  if (found === undefined) return new Map();
  const list = valueOf(found.node);
  const specs = Array.isArray(list) ? list.flatMap(toSpec) : [];
  if (!Array.isArray(list) || specs.length < list.length) {
    const message = "expected a list of objects, each with an 'id'";
    report({ severity: 'warning', ...found.position, field: 'inputs', message });
  }
  return new Map(specs.map((spec) => [spec.id, spec]));
}

function toSpec(value: unknown): readonly InputSpec[] {
  if (!isObject(value) || typeof value['id'] !== 'string') return [];
  const { id, description, default: proposal, options, password } = value;
  return [
    {
      id,
      ...(typeof description === 'string' && { description: printable(description) }),
      ...(typeof proposal === 'string' && { default: proposal }),
      ...(Array.isArray(options) && { options: options.flatMap(toOption) }),
      password: password === true,
    },
  ];
}

/** A plain text, or an object with a label and a value. */
function toOption(option: unknown): readonly string[] {
  const value = isObject(option) ? option['value'] : option;
  return typeof value === 'string' ? [value] : [];
}

/** What the file says about the answers the entry refers to. */
export function declaredInputs({ config, inputs }: ServerSpec): readonly InputSpec[] {
  return inputsWanted(config).flatMap((name) => inputs?.get(name.slice(PREFIX.length)) ?? []);
}

export class InputAnswers {
  readonly #answers = new Map<string, Promise<string | undefined>>();

  constructor(private readonly ask: TroupeOptions['askInput']) {}

  /** Everything an entry refers to, by the name of the variable. Never rejects. */
  async answersFor(spec: ServerSpec): Promise<Answers> {
    const names = inputsWanted(spec.config);
    try {
      const answers = await Promise.all(names.map((name) => this.#answer(spec, name.slice(PREFIX.length))));
      const open = names.filter((_, index) => answers[index] === undefined);
      if (open.length > 0) return { failure: unanswered(spec.name, open, this.ask !== undefined) };
      return { values: Object.fromEntries(names.map((name, index) => [name, answers[index] ?? ''])) };
    } catch (error) {
      const reason = messageOf(error);
      return {
        failure: { code: 'variable-missing', message: `Asking for ${names.join(', ')} failed: ${reason}` },
      };
    }
  }

  /** What nobody answered is asked again with the next attempt, and so is what the file proposes another answer for. */
  #answer(spec: ServerSpec, id: string): Promise<string | undefined> {
    const { source, baseDir, inputs } = spec;
    const key = JSON.stringify([source, baseDir, id, inputs?.get(id)?.default]);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#ask(spec, id);
    this.#answers.set(key, answer);
    const forget = (): void => void this.#answers.delete(key);
    answer.then((value) => value === undefined && forget(), forget);
    return answer;
  }

  async #ask({ name, source, inputs }: ServerSpec, id: string): Promise<string | undefined> {
    const declared = inputs?.get(id) ?? { id, password: true };
    if (this.ask === undefined) return declared.default;
    return this.ask({ ...declared, server: name, source });
  }
}

function unanswered(server: string, names: readonly string[], wasAsked: boolean): RawFailure {
  const list = names.map((name) => `\${${printable(name)}}`).join(', ');
  return {
    code: 'variable-missing',
    message: `Server '${printable(server)}' needs an answer that nobody gave: ${list}`,
    hint: wasAsked
      ? 'Retry it to be asked again.'
      : "This host asks nobody ('askInput' is not given): put a variable such as ${NAME} in its place.",
  };
}
