/** A provider that follows a script. Leave `fetch` out, and the client asks the real one. */
export async function scriptedFetch(_url: unknown, init?: RequestInit): Promise<Response> {
  const { messages } = JSON.parse(init?.body as string) as { messages: unknown[] };
  const isAnswered = messages.length > 1;
  return Response.json({
    type: 'message',
    role: 'assistant',
    stop_reason: isAnswered ? 'end_turn' : 'tool_use',
    content: isAnswered
      ? [{ type: 'text', text: 'It is 5, and that is the logo.' }]
      : [
          { type: 'tool_use', id: 'call-1', name: 'mcp__everything__get-sum', input: { a: 2, b: 3 } },
          { type: 'tool_use', id: 'call-2', name: 'mcp__everything__get-tiny-image', input: {} },
        ],
  });
}
