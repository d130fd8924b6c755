/** The form of answers of the inspection server: the headers of every answer, and the usual bodies. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Refusal } from './page-protocol.js';

/** Why a request is refused: one sentence for a person. */
export interface Refused {
  readonly status: number;
  readonly error: string;
}

export function isRefused(answer: object): answer is Refused {
  return 'error' in answer && 'status' in answer;
}

/** The page loads nothing from elsewhere, sends nothing elsewhere, and cannot be framed. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const EVERY_ANSWER: OutgoingHttpHeaders = {
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

const JSON_TYPE = 'application/json; charset=utf-8';
export const LINES_TYPE = 'application/x-ndjson; charset=utf-8';

/** Sends the head of an answer whose body follows. */
export function beginAnswer(
  response: ServerResponse,
  type: string,
  headers: OutgoingHttpHeaders = {},
  status = 200,
): void {
  response.writeHead(status, { ...EVERY_ANSWER, 'content-type': type, ...headers });
}

export function answerJson(response: ServerResponse, body: unknown): void {
  beginAnswer(response, JSON_TYPE);
  response.end(JSON.stringify(body));
}

export function refuse(
  response: ServerResponse,
  { status, error }: Refused,
  headers: OutgoingHttpHeaders = {},
): void {
  const body: Refusal = { error };
  // The rest of the request is not read.
  beginAnswer(response, JSON_TYPE, { connection: 'close', ...headers }, status);
  response.end(JSON.stringify(body));
}
