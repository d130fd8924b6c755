/**
 * Answers `elicitation/create` (MCP specification 2025-11-25, "Elicitation"), by a form or by an address.
 *
 * A person may type anything: the content is checked against the form, and no message repeats it.
 */
import type { ElicitRequestFormParams, ElicitRequestURLParams } from '../mcp/host-requests.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import type { SchemaValidator } from '../schemas/schema-validator.js';
import type { ElicitationHandler, ElicitationHandlers, ServerRequestContext } from './handlers.js';
import { BadAnswer, BadRequest, type Responder, type Response } from './responder.js';
import { parseUrl } from '../text/parse-url.js';

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];
const SCHEMES: readonly string[] = ['https:', 'http:'];

/** `validator` knows the formats that a form may ask for. */
export function answerElicitation(
  handler: ElicitationHandler | ElicitationHandlers,
  validator: SchemaValidator,
): Responder {
  const { form, url } = typeof handler === 'function' ? { form: handler, url: handler } : handler;
  return {
    isQuestion: true,
    respond: async (params, about) => {
      const { mode = 'form' } = params;
      if (mode === 'form' && form !== undefined) return answerForm(form, params, about, validator);
      if (mode === 'url' && url !== undefined) {
        const answer = toAnswer(await url(toUrlRequest(params), about));
        return toResponse({ action: answer['action'] });
      }
      throw new BadRequest('this mode of elicitation was not declared');
    },
  };
}

async function answerForm(
  form: NonNullable<ElicitationHandlers['form']>,
  params: JsonObject,
  about: ServerRequestContext,
  validator: SchemaValidator,
): Promise<Response> {
  const request = toFormRequest(params);
  const { action, content } = toAnswer(await form(request, about));
  if (action !== 'accept') return toResponse({ action });
  const { requestedSchema } = request;
  const filled = withDefaults(requestedSchema.properties, isJsonObject(content) ? content : {});
  await validator.load();
  const verdict = validator.check(requestedSchema, filled);
  if (verdict.kind === 'misfit') {
    const problems = verdict.problems.map(({ path, message }) => `${path || 'it'} ${message}`);
    throw new BadAnswer(`it does not fit the form: ${problems.join('; ')}.`);
  }
  return toResponse({ action, content: filled });
}

/** A missing field gets the default that the server proposed. */
function withDefaults(properties: JsonObject, content: JsonObject): JsonObject {
  const proposed = Object.entries(properties).flatMap(([name, schema]): [string, unknown][] =>
    isJsonObject(schema) && schema['default'] !== undefined ? [[name, schema['default']]] : [],
  );
  const given = Object.entries(content).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...proposed, ...given]);
}

function toFormRequest(params: JsonObject): ElicitRequestFormParams {
  const { message, requestedSchema } = params;
  if (typeof message !== 'string') throw new BadRequest('message is not a string');
  const isForm =
    isJsonObject(requestedSchema) &&
    requestedSchema['type'] === 'object' &&
    isJsonObject(requestedSchema['properties']);
  if (!isForm) throw new BadRequest('requestedSchema is not the schema of an object');
  return params as ElicitRequestFormParams;
}

/** Other schemes may do things that the person was not asked about. */
function toUrlRequest(params: JsonObject): ElicitRequestURLParams {
  const { message, url, elicitationId } = params;
  if (typeof message !== 'string') throw new BadRequest('message is not a string');
  if (typeof elicitationId !== 'string') throw new BadRequest('elicitationId is not a string');
  if (typeof url !== 'string' || !SCHEMES.includes(parseUrl(url)?.protocol ?? '')) {
    throw new BadRequest('url is not an http or https address');
  }
  return params as ElicitRequestURLParams;
}

function toAnswer(answer: unknown): JsonObject {
  if (!isJsonObject(answer) || !ACTIONS.includes(answer['action'])) {
    throw new BadAnswer("its action is neither 'accept' nor 'decline' nor 'cancel'.");
  }
  const { content } = answer;
  if (content !== undefined && content !== null && !isJsonObject(content)) {
    throw new BadAnswer('its content is not an object.');
  }
  return answer;
}

function toResponse(answer: JsonObject): Response {
  return { isRefused: answer['action'] !== 'accept', answer };
}
