/** A provider that follows a script. Leave `fetch` out, and the client asks the real one. */
const name = 'mcp__everything__get-sum';
const written = '{"a":2,"b":3}';
const text = 'It is 5.';

interface Request {
  readonly input?: readonly Message[];
  readonly messages?: readonly Message[];
}

interface Message {
  readonly type?: string;
  readonly role?: string;
}

export async function scriptedFetch(url: unknown, init?: RequestInit): Promise<Response> {
  const { input = [], messages = input } = JSON.parse(init?.body as string) as Request;
  const last = messages.at(-1);
  const isAnswered = last?.type === 'function_call_output' || last?.role === 'tool';
  return Response.json(
    String(url).endsWith('/responses') ? responseFor(isAnswered) : completionFor(isAnswered),
  );
}

function responseFor(isAnswered: boolean): object {
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  const call = { type: 'function_call', call_id: 'call-1', name, arguments: written };
  return { object: 'response', output: [isAnswered ? message : call] };
}

function completionFor(isAnswered: boolean): object {
  const call = { id: 'call-1', type: 'function', function: { name, arguments: written } };
  const message = isAnswered
    ? { role: 'assistant', content: text }
    : { role: 'assistant', content: null, tool_calls: [call] };
  return { choices: [{ index: 0, message, finish_reason: isAnswered ? 'stop' : 'tool_calls' }] };
}
