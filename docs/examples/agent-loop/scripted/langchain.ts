/** A model that follows a script. In its place stands yours: `new ChatOpenAI(…)`, `new ChatAnthropic(…)`, … */
import { FakeToolCallingModel } from 'langchain';

export const model = new FakeToolCallingModel({
  toolCalls: [
    [
      { id: 'call-1', name: 'mcp__everything__get-sum', args: { a: 2, b: 3 } },
      { id: 'call-2', name: 'mcp__everything__get-tiny-image', args: {} },
      { id: 'call-3', name: 'mcp__everything__close-door', args: {} },
    ],
    [],
  ],
});
