/** The contract with the major version before the newest of each framework that has one. Those take the place of the newest. */
import { vi } from 'vitest';
import { aiSdk } from '../../support/agents/ai-sdk.js';
import { anthropic } from '../../support/agents/anthropic.js';
import { openaiChat } from '../../support/agents/openai-chat.js';
import { openaiResponses } from '../../support/agents/openai-responses.js';
import { describeContract } from './adapter-contract.js';
import { describeSearch } from './search-contract.js';

vi.mock('ai', () => import('ai-6'));
vi.mock('ai/test', () => import('ai-6/test'));
vi.mock('openai', () => import('openai-6'));
vi.mock('@anthropic-ai/sdk', () => import('anthropic-0'));

describeContract([aiSdk, openaiChat, openaiResponses, anthropic]);
describeSearch([{ ...aiSdk, endsToAsk: true }]);
