/** What the clients of a run with replicas take an answer or an error for. */
import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { outcomeOfError, outcomeOfResult } from '../../../../../tools/chaos/replicas/outcome.mjs';
import { NotReadyError } from '../../../../../src/errors.js';
import { useLeakCheck } from '../../../../support/leak-check.js';

useLeakCheck();

const UNKNOWN =
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"…","data":{"code":"outcome-unknown"}}}';
const http = (status: number, text: string): SdkHttpError =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'Error POSTing', { status, text });
const tool = (code: string): object => ({
  content: [{ type: 'text', text: 'said' }],
  isError: true,
  _meta: { 'mcp-troupe/error': { code } },
});

describe('The outcome of a call', () => {
  it('is that of its result', () => {
    const right = { content: [{ type: 'text', text: 'a' }] };
    expect(outcomeOfResult(right, 'a').outcome).toBe('succeeded');
    expect(outcomeOfResult(right, 'b').outcome).toBe('unclear');
    expect(outcomeOfResult(tool('NOT_READY'), 'a').outcome).toBe('not-delivered');
    expect(outcomeOfResult(tool('OUTCOME_UNKNOWN'), 'a').outcome).toBe('unknown');
    expect(outcomeOfResult(tool('CALL_TIMEOUT'), 'a').outcome).toBe('unknown');
    expect(outcomeOfResult(tool('OTHER'), 'a').outcome).toBe('unclear');
  });

  it.each<[string, object, string]>([
    ['a session that is over (v1)', new StreamableHTTPError(404, 'over'), 'not-delivered'],
    ['a session that is over (v2)', http(404, 'over'), 'not-delivered'],
    ['a host that is not reached', new StreamableHTTPError(503, 'none'), 'not-delivered'],
    ['a request that did not arrive whole', new StreamableHTTPError(408, ''), 'not-delivered'],
    ['a broken way to another host (v1)', new StreamableHTTPError(502, `Error: ${UNKNOWN}`), 'unknown'],
    ['a broken way to another host (v2)', http(502, UNKNOWN), 'unknown'],
    ['any other status', http(500, 'Internal error'), 'unclear'],
    ['a broken connection', new TypeError('fetch failed'), 'unknown'],
    ['a stream that ended', new SdkError(SdkErrorCode.ConnectionClosed, 'closed'), 'unknown'],
    ['silence (v1)', new McpError(ErrorCode.RequestTimeout, 'late'), 'gave-up'],
    ['silence (v2)', new SdkError(SdkErrorCode.RequestTimeout, 'late'), 'gave-up'],
    ['an unknown tool', new McpError(ErrorCode.InvalidParams, 'none', { tool: 'x' }), 'not-delivered'],
    ['an error of the library', new NotReadyError('not sent', { server: 'x' }), 'not-delivered'],
    ['an error of a program', new RangeError('wrong'), 'unclear'],
  ])('is found for %s', (_, error, outcome) => {
    expect(outcomeOfError(error).outcome).toBe(outcome);
  });

  it('says that a client needs a new session', () => {
    expect(outcomeOfError(new StreamableHTTPError(404, 'over')).isSessionOver).toBe(true);
    expect(outcomeOfError(new StreamableHTTPError(503, 'none')).isSessionOver).toBeUndefined();
  });
});
