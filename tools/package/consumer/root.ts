import { createTroupe } from 'mcp-troupe';
import * as anthropic from 'mcp-troupe/anthropic';
import { createGateway } from 'mcp-troupe/gateway';
import * as openai from 'mcp-troupe/openai';
import type {
  CallToolResult,
  DiagnosticEvent,
  LifecycleEvent,
  ServerConfig,
  ServerStatus,
  TroupeOptions,
} from 'mcp-troupe';

const servers: Record<string, ServerConfig> = {
  files: { command: 'node', args: ['server.js'], env: { LOG: 'off' } },
  search: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
};

export const options: TroupeOptions = { servers, policy: { maxAttempts: 3 } };
export const troupe = createTroupe(options);

export function isLoss(event: LifecycleEvent): boolean {
  return event.type === 'connection.lost' && event.failure.code === 'process-exited';
}

export const lost$ = troupe.events$.subscribe((event) => isLoss(event));
export const odd$ = troupe.diagnostics$.subscribe(
  ({ kind, message }: DiagnosticEvent) => `${kind}: ${message}`,
);
export const rows: readonly ServerStatus[] = troupe.status;
export const answer = troupe.callTool('mcp__files__read', { path: 'a' }).then((result) => result.content);
export const shown = (result: CallToolResult): readonly string[] =>
  result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
export const tools = [...openai.toChatTools(troupe), ...anthropic.toTools(troupe)];
export const gateway = createGateway({ servers });
