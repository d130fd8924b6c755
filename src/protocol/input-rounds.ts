/**
 * The rounds of one request in the new era: a server that needs something from the host answers with questions, and gets
 * the request again with the answers (MCP 2026-07-28, "Multi Round-Trip Requests").
 */
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { cutText } from '../text/visible-text.js';
import { isQuestion, RequestLostError, RpcError } from './protocol-client.js';
import { asText } from '../text/as-text.js';

/** Only these may be answered with questions. */
const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
/** What a server may ask for. */
const QUESTIONS: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);
/** More than any honest server needs for one request. */
const MAX_ROUNDS = 10;

export interface RoundPorts {
  /** Resolves with a checked answer. */
  send(params: JsonObject): Promise<JsonObject>;
  /** Answers one question. Rejects with an `RpcError` if it is refused. */
  answer(method: string, params: JsonObject): Promise<JsonObject>;
}

/** Sends the request until the answer has no questions. */
export async function inRounds(method: string, params: JsonObject, ports: RoundPorts): Promise<JsonObject> {
  let sent = params;
  for (let round = 0; ; round += 1) {
    const result = await ports.send(sent);
    if (!isQuestion(result)) return result;
    if (round === MAX_ROUNDS)
      throw unusable(`The server still had questions after ${MAX_ROUNDS} rounds of ${method}.`);
    sent = { ...params, ...(await answered(result, ports)) };
  }
}

/**
 * The answer of one round. `further`: a result type that this request may have, too. Throws a `RequestLostError` if it is
 * neither a result nor questions.
 */
export function checked(method: string, result: JsonObject, further?: string): JsonObject {
  const type = result['resultType'] ?? 'complete';
  if (type !== 'complete' && type !== further && !isQuestion(result))
    throw unusable(
      `The answer to ${method} has the unknown result type ${cutText(JSON.stringify(type), 40)}.`,
    );
  if (isQuestion(result) && !MAY_ASK.has(method))
    throw unusable(`The server answered ${method} with questions.`);
  return result;
}

/** What the next round adds to the params. The state is returned unchanged, or left out if there was none. */
async function answered({ inputRequests, requestState }: JsonObject, ports: RoundPorts): Promise<JsonObject> {
  const isAsking = isJsonObject(inputRequests);
  if (!isAsking && typeof requestState !== 'string')
    throw unusable('The server wants input, but asks for none.');
  const state = typeof requestState === 'string' ? { requestState } : {};
  if (!isAsking) return state;
  return { inputResponses: Object.fromEntries(await answersTo(inputRequests, ports)), ...state };
}

/** The answers to the questions, by key. They are asked one after the other. */
export async function answersTo(
  questions: JsonObject,
  ports: Pick<RoundPorts, 'answer'>,
): Promise<readonly (readonly [string, JsonObject])[]> {
  const answers: [string, JsonObject][] = [];
  for (const [key, question] of Object.entries(questions)) {
    answers.push([key, await answerTo(question, ports)]);
  }
  return answers;
}

async function answerTo(question: unknown, ports: Pick<RoundPorts, 'answer'>): Promise<JsonObject> {
  const { method, params } = isJsonObject(question) ? question : {};
  if (typeof method !== 'string' || !QUESTIONS.has(method)) {
    throw unusable(`The server asks for '${cutText(asText(method), 100)}', which MCP does not know.`);
  }
  try {
    return await ports.answer(method, isJsonObject(params) ? params : {});
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw unusable(`The server asks for '${method}', and the host cannot answer: ${error.message}`);
  }
}

/** The answer cannot be used, so what became of the request is unknown. */
export function unusable(message: string): RequestLostError {
  return new RequestLostError({ code: 'protocol-error', message }, true);
}
