/** The contract with the newest version of each framework. */
import { aiSdk } from '../../support/agents/ai-sdk.js';
import { anthropic } from '../../support/agents/anthropic.js';
import { langchain } from '../../support/agents/langchain.js';
import { openaiChat } from '../../support/agents/openai-chat.js';
import { openaiResponses } from '../../support/agents/openai-responses.js';
import { describeContract } from './adapter-contract.js';
import { describeSearch } from './search-contract.js';

describeContract([aiSdk, langchain, openaiChat, openaiResponses, anthropic]);
describeSearch([langchain, openaiChat, openaiResponses, anthropic]);
