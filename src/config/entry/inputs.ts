/**
 * Values that a person is asked for: `${input:ID}`, declared beside the servers as in VS Code. Each is requested once
 * per source and proposal; answers are kept in memory only.
 */
import type { AskInput } from './server-config.js';
import { messageOf } from '../../text/error-message.js';
import type { RawFailure } from '../../failures/transport-error.js';
import { inputsWanted } from './expand.js';
import type { ServerSpec, InputSpec } from './server-spec.js';
import { printable } from './problem.js';

export type Answers =
  { readonly values: Readonly<Record<string, string>> } | { readonly failure: RawFailure };

const PREFIX = 'input:';

/** The declarations of the inputs that the entry refers to. */
export function declaredInputs({ config, inputs }: ServerSpec): readonly InputSpec[] {
  return inputsWanted(config).flatMap((name) => inputs?.get(name.slice(PREFIX.length)) ?? []);
}

/** Names of the references to inputs that must not be shown while they are typed: `input:ID`. */
export function hiddenInputs({ config, inputs }: ServerSpec): ReadonlySet<string> {
  const isHidden = (name: string): boolean => {
    const declared = inputs?.get(name.slice(PREFIX.length));
    return declared === undefined || declared.password;
  };
  return new Set(inputsWanted(config).filter(isHidden));
}

export class InputAnswers {
  readonly #answers = new Map<string, Promise<string | undefined>>();

  constructor(private readonly ask: AskInput | undefined) {}

  /** The answers for all inputs of an entry, by the name of the variable. Never rejects. */
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

  /**
   * An input without an answer is asked for again at the next attempt. So is an input for which the file now proposes
   * another answer.
   */
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
    message: `Server '${printable(server)}' needs an answer that is missing: ${list}`,
    hint: wasAsked
      ? 'Retry it to be asked again.'
      : "This host cannot ask ('askInput' is not set): use a variable such as ${NAME} instead.",
  };
}
