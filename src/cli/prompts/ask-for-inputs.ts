/**
 * Asks a person for the inputs that entries refer to (`${input:ID}`), one after the other and before anything starts.
 * Asks only for entries that may start: an entry that is not trusted must not ask for anything.
 */
import { TrustedEntries } from '../../trust/trusted-entries.js';
import { createFileTrustStore } from '../../trust/trust-store.js';
import { inputsWanted } from '../../config/entry/expand.js';
import { loadConfig } from '../../servers/load-config.js';
import type { ServerSpec } from '../../config/entry/server-spec.js';
import { needsTrust } from '../../trust/trust-rules.js';
import type { TroupeOptions } from '../../options.js';
import type { InputRequest } from '../../config/entry/server-config.js';
import { asking, canAsk, type Questions } from './ask.js';
import { sourcesOf } from '../configured-servers.js';
import type { Flags } from '../arguments/flags.js';
import { nameOf, oneLine, type Terminal } from '../output/terminal.js';

type AskInput = NonNullable<TroupeOptions['askInput']>;

/** The answer to each input that was asked for; null if there is none. Plain JSON. */
export type InputAnswers = Readonly<Record<string, string | null>>;

/** The function knows the answers; an input that is requested later gets its default. Undefined if nobody can be asked. */
export async function askForInputs(
  ...asked: Parameters<typeof collectInputs>
): Promise<AskInput | undefined> {
  const answers = await collectInputs(...asked);
  return answers === undefined ? undefined : answering(answers);
}

export function answering(answers: InputAnswers): AskInput {
  return (request) =>
    hasAnswer(request, answers) ? (answers[keyOf(request)] ?? undefined) : request.default;
}

export function hasAnswer(request: Pick<InputRequest, 'source' | 'id'>, answers: InputAnswers): boolean {
  return Object.hasOwn(answers, keyOf(request));
}

/** Undefined if nobody can be asked. */
export async function collectInputs(
  flags: Flags,
  servers: readonly string[],
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<InputAnswers | undefined> {
  if (flags.json || !canAsk(terminal, stdin)) return undefined;
  const requests = await wantedBy(servers, flags);
  const answers = new Map<string, string | null>();
  if (requests.length > 0) {
    await asking(terminal, stdin, async (questions) => {
      for (const request of requests) {
        if (answers.has(keyOf(request))) continue;
        answers.set(keyOf(request), (await askFor(request, terminal, questions)) ?? null);
      }
    });
  }
  return Object.fromEntries(answers);
}

async function wantedBy(servers: readonly string[], flags: Flags): Promise<readonly InputRequest[]> {
  const { specs, mayStart } = await readSpecs(flags);
  return specs.filter((spec) => servers.includes(spec.name) && mayStart(spec)).flatMap(inputRequests);
}

/** The entries as they are configured now, and which of them may start. */
export async function readSpecs(
  flags: Pick<Flags, 'config' | 'add' | 'discover'>,
): Promise<{ readonly specs: readonly ServerSpec[]; readonly mayStart: (spec: ServerSpec) => boolean }> {
  const isTrusted = await new TrustedEntries(createFileTrustStore()).snapshot();
  const loaded = await loadConfig({ ...sourcesOf(flags), isTrusted, cwd: process.cwd() });
  return {
    specs: loaded.servers,
    mayStart: (spec) => spec.config.enabled !== false && (!needsTrust(spec) || isTrusted(spec)),
  };
}

/** The inputs that an entry refers to. */
export function inputRequests({ name, source, config, inputs }: ServerSpec): readonly InputRequest[] {
  return inputsWanted(config).map((variable): InputRequest => {
    const id = variable.slice('input:'.length);
    return { ...(inputs?.get(id) ?? { id, password: true }), server: name, source };
  });
}

/** An answer applies to every server of the source, as in the runtime. */
function keyOf({ source, id }: Pick<InputRequest, 'source' | 'id'>): string {
  return JSON.stringify([source, id]);
}

/** Undefined if there is no answer and no proposal. */
async function askFor(
  request: InputRequest,
  terminal: Terminal,
  questions: Questions,
): Promise<string | undefined> {
  const { server, source, id, description = id, options = [], password, default: proposal } = request;
  terminal.note(`'${nameOf(server)}' (${oneLine(source)}) asks for: ${oneLine(description)}`);
  if (options.length > 0) return choose(request, terminal, questions);
  const shown = password ? 'the proposal of the file' : oneLine(proposal ?? '');
  const prompt = proposal === undefined ? 'Answer:' : `Answer [${shown}]:`;
  const answer = password ? await questions.hidden(`${prompt} (not shown)`) : await questions.line(prompt);
  if (answer === undefined && password) terminal.note('It has no answer.');
  return answer === undefined || answer === '' ? proposal : answer;
}

async function choose(
  { options = [], default: proposal }: InputRequest,
  terminal: Terminal,
  { line }: Questions,
): Promise<string | undefined> {
  for (const [index, option] of options.entries()) terminal.note(`    ${index + 1}  ${oneLine(option)}`);
  const prompt = proposal === undefined ? 'Number:' : `Number [${oneLine(proposal)}]:`;
  for (;;) {
    const answer = (await line(prompt))?.trim();
    if (answer === undefined || answer === '') return proposal;
    const chosen = options[Number(answer) - 1] ?? options.find((option) => option === answer);
    if (chosen !== undefined) return chosen;
    terminal.note(`Type a number from 1 to ${options.length}.`);
  }
}
