/** A provider that follows a script. Leave `fetch` out, and the client asks the real one. */
const name = 'mcp__everything__get-sum';
const written = '{"a":2,"b":3}';
const text = 'It is 5.';

export async function scriptedFetch(url, { body }) {
  const { input, messages } = JSON.parse(body);
  const last = (input ?? messages).at(-1);
  const isAnswered = last.type === 'function_call_output' || last.role === 'tool';
  return Response.json(
    String(url).endsWith('/responses') ? responseFor(isAnswered) : completionFor(isAnswered),
  );
}

function responseFor(isAnswered) {
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  const call = { type: 'function_call', call_id: 'call-1', name, arguments: written };
  return { object: 'response', output: [isAnswered ? message : call] };
}

function completionFor(isAnswered) {
  const call = { id: 'call-1', type: 'function', function: { name, arguments: written } };
  const message = isAnswered
    ? { role: 'assistant', content: text }
    : { role: 'assistant', content: null, tool_calls: [call] };
  return { choices: [{ index: 0, message, finish_reason: isAnswered ? 'stop' : 'tool_calls' }] };
}
