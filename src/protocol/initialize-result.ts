/** What a server answers to `initialize`: its shape, and whether one of our protocol versions is its own. */
import {
  InitializeResultSchema,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
  type InitializeResult,
} from '@modelcontextprotocol/sdk/types.js';
import { cutText } from '../cut-text.js';
import { ProtocolFailure, type JsonObject } from './protocol-client.js';

/** Throws a `ProtocolFailure` for an answer that is not valid, or speaks no version that is known here. */
export function parseInitializeResult(value: JsonObject): InitializeResult {
  const parsed = InitializeResultSchema.safeParse(value);
  if (!parsed.success) {
    throw new ProtocolFailure({
      code: 'protocol-error',
      message: `The answer to initialize is not valid: ${parsed.error.issues[0]?.path.join('.') ?? 'it'} is wrong.`,
    });
  }
  if (!SUPPORTED_PROTOCOL_VERSIONS.includes(parsed.data.protocolVersion)) {
    throw new ProtocolFailure({
      code: 'protocol-version',
      message: `The server speaks protocol version ${cutText(parsed.data.protocolVersion, 40)}; this client offered ${LATEST_PROTOCOL_VERSION} and knows ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
      hint: 'Use a version of the server that speaks one of these.',
    });
  }
  return parsed.data;
}
