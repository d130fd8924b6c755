/** Answers `sampling/createMessage` (MCP specification 2025-11-25, "Sampling"). */
import type { CreateMessageRequestParams } from '../mcp/host-requests.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { RpcError } from '../protocol/protocol-client.js';
import type { SamplingHandler, SamplingOptions } from './handlers.js';
import { BadAnswer, BadRequest, type Responder } from './responder.js';

/** The code that the specification shows for a refusal by a person. */
const REFUSED = -1;

export function answerSampling(handler: SamplingHandler | SamplingOptions): Responder {
  const options = typeof handler === 'function' ? { createMessage: handler } : handler;
  return {
    isQuestion: true,
    respond: async (params, about) => {
      const request = toRequest(params, options.tools === true);
      const answer: unknown = await options.createMessage(request, about);
      if (answer === 'refused') {
        return {
          isRefused: true,
          answer: new RpcError(REFUSED, 'User rejected sampling request', undefined),
        };
      }
      return { isRefused: false, answer: toResult(answer) };
    },
  };
}

function toRequest(params: JsonObject, mayHaveTools: boolean): CreateMessageRequestParams {
  const { messages, maxTokens, tools, toolChoice } = params;
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    throw new BadRequest('messages is not a list of messages');
  }
  if (typeof maxTokens !== 'number') throw new BadRequest('maxTokens is not a number');
  if (!mayHaveTools && (tools !== undefined || toolChoice !== undefined)) {
    throw new BadRequest('tools are not supported: sampling.tools was not declared');
  }
  return params as CreateMessageRequestParams;
}

function isMessage(message: unknown): boolean {
  return isJsonObject(message) && isRole(message['role']) && isContent(message['content']);
}

function toResult(answer: unknown): JsonObject {
  if (!isJsonObject(answer)) throw new BadAnswer("it is neither a message nor 'refused'.");
  const { role, model, content } = answer;
  if (!isRole(role)) throw new BadAnswer("its role is neither 'user' nor 'assistant'.");
  if (typeof model !== 'string') throw new BadAnswer('it names no model.');
  if (!isContent(content)) throw new BadAnswer('its content is neither a block nor a list of blocks.');
  return answer;
}

function isRole(role: unknown): boolean {
  return role === 'user' || role === 'assistant';
}

function isContent(content: unknown): boolean {
  return [content].flat().every((block) => isJsonObject(block) && typeof block['type'] === 'string');
}
