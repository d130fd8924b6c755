/** The same with the major version before the newest, which takes the place of that. */
import { vi } from 'vitest';
import { describeAiSdk } from './ai-sdk-suite.js';

vi.mock('ai', () => import('ai-6'));
vi.mock('ai/test', () => import('ai-6/test'));

describeAiSdk(6);
