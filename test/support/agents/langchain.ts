import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models';
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { createAgent } from 'langchain';
import { liveTools } from '../../../src/adapters/langchain.js';
import {
  stepAt,
  typeOfDataUrl,
  type OfferedTool,
  type ScriptedAgent,
  type ScriptedStep,
  type SeenStep,
  type ReceivedAnswer,
} from './agent.js';

/** A chat model that follows a script and records what it receives. */
export class ScriptedChatModel extends BaseChatModel {
  readonly #steps: readonly ScriptedStep[];
  readonly #offered: readonly OfferedTool[];
  readonly seen: SeenStep[];

  constructor(steps: readonly ScriptedStep[], seen: SeenStep[] = [], offered: readonly OfferedTool[] = []) {
    super({ maxRetries: 0 });
    this.#steps = steps;
    this.seen = seen;
    this.#offered = offered;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(tools: BindToolsInput[]): ScriptedChatModel {
    return new ScriptedChatModel(this.#steps, this.seen, tools.map(toOffered));
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const index = this.seen.length;
    this.seen.push({ offered: this.#offered, answers: answersIn(messages) });
    const calls = await stepAt(this.#steps, index)();
    const message = new AIMessage({
      content: calls.length === 0 ? 'done' : '',
      tool_calls: calls.map(({ name, args = {} }, at) => ({
        type: 'tool_call' as const,
        id: `call-${index}-${at}`,
        name,
        args: args as Record<string, unknown>,
      })),
    });
    return { generations: [{ text: '', message }] };
  }
}

export const langchain: ScriptedAgent = {
  name: 'LangChain',
  showsImages: true,
  marksErrors: true,
  run: async (source, steps, { signal, ...options } = {}) => {
    const model = new ScriptedChatModel(steps);
    const agent = createAgent({ model, tools: [], middleware: [liveTools(source, options)] });
    await agent.invoke({ messages: 'go' }, { ...(signal !== undefined && { signal }), recursionLimit: 100 });
    return model.seen;
  },
};

function toOffered(tool: BindToolsInput): OfferedTool {
  const { name, description, parameters } = convertToOpenAITool(tool as StructuredToolInterface).function;
  return { name, description, schema: parameters };
}

function answersIn(messages: readonly BaseMessage[]): ReceivedAnswer[] {
  const lastCall = messages.findLastIndex((message) => AIMessage.isInstance(message));
  return messages.slice(lastCall + 1).flatMap((message) => {
    if (!ToolMessage.isInstance(message)) return [];
    const parts = typeof message.content === 'string' ? [] : (message.content as Record<string, unknown>[]);
    const urls = parts.flatMap(({ image_url: image }) => (image as { url: string } | undefined)?.url ?? []);
    return [{ text: message.text, isError: message.status === 'error', media: urls.map(typeOfDataUrl) }];
  });
}
