/**
 * The types of `src/mcp` and those of the SDK fit each other, both ways, so that a host can pass objects of its own SDK and use
 * what Troupe returns with it. `npm run types` checks it: a type that does not fit is an error that names it.
 */
import type * as client from '@modelcontextprotocol/sdk/client/auth.js';
import type * as oauth from '@modelcontextprotocol/sdk/shared/auth.js';
import type * as transport from '@modelcontextprotocol/sdk/shared/transport.js';
import type * as types from '@modelcontextprotocol/sdk/types.js';
import type * as ownContent from '../../../src/mcp/content.js';
import type * as ownMessages from '../../../src/mcp/messages.js';
import type * as ownOauth from '../../../src/mcp/oauth.js';
import type * as ownOffers from '../../../src/mcp/server-offers.js';
import type * as ownRequests from '../../../src/mcp/host-requests.js';
import type * as ownSession from '../../../src/mcp/session.js';
import type * as ownTransport from '../../../src/mcp/transport.js';

/** By name: a type of Troupe, and that of the SDK. */
interface Pairs {
  RequestId: [ownMessages.RequestId, types.RequestId];
  JSONRPCRequest: [ownMessages.JSONRPCRequest, types.JSONRPCRequest];
  JSONRPCNotification: [ownMessages.JSONRPCNotification, types.JSONRPCNotification];
  JSONRPCResultResponse: [ownMessages.JSONRPCResultResponse, types.JSONRPCResultResponse];
  JSONRPCErrorResponse: [ownMessages.JSONRPCErrorResponse, types.JSONRPCErrorResponse];
  JSONRPCResponse: [ownMessages.JSONRPCResponse, types.JSONRPCResponse];
  JSONRPCMessage: [ownMessages.JSONRPCMessage, types.JSONRPCMessage];
  Annotations: [ownContent.Annotations, types.Annotations];
  Icon: [ownContent.Icon, types.Icon];
  ContentBlock: [ownContent.ContentBlock, types.ContentBlock];
  Resource: [ownContent.Resource, types.Resource];
  ResourceTemplate: [ownOffers.ResourceTemplate, types.ResourceTemplate];
  ReadResourceResult: [ownOffers.ReadResourceResult, types.ReadResourceResult];
  Tool: [ownOffers.Tool, types.Tool];
  ToolAnnotations: [ownOffers.ToolAnnotations, types.ToolAnnotations];
  CallToolResult: [ownOffers.CallToolResult, types.CallToolResult];
  Prompt: [ownOffers.Prompt, types.Prompt];
  PromptArgument: [ownOffers.PromptArgument, types.PromptArgument];
  GetPromptResult: [ownOffers.GetPromptResult, types.GetPromptResult];
  CompleteResult: [ownOffers.CompleteResult, types.CompleteResult];
  Implementation: [ownSession.Implementation, types.Implementation];
  ClientCapabilities: [ownSession.ClientCapabilities, types.ClientCapabilities];
  ServerCapabilities: [ownSession.ServerCapabilities, types.ServerCapabilities];
  LoggingLevel: [ownSession.LoggingLevel, types.LoggingLevel];
  Root: [ownRequests.Root, types.Root];
  CreateMessageRequestParams: [ownRequests.CreateMessageRequestParams, types.CreateMessageRequestParams];
  CreateMessageResult: [ownRequests.CreateMessageResult, types.CreateMessageResult];
  CreateMessageResultWithTools: [
    ownRequests.CreateMessageResultWithTools,
    types.CreateMessageResultWithTools,
  ];
  ElicitRequestFormParams: [ownRequests.ElicitRequestFormParams, types.ElicitRequestFormParams];
  ElicitRequestURLParams: [ownRequests.ElicitRequestURLParams, types.ElicitRequestURLParams];
  ElicitResult: [ownRequests.ElicitResult, types.ElicitResult];
  MessageExtraInfo: [ownTransport.MessageExtraInfo, types.MessageExtraInfo];
  TransportSendOptions: [ownTransport.TransportSendOptions, transport.TransportSendOptions];
  Transport: [ownTransport.Transport, transport.Transport];
  FetchLike: [ownTransport.FetchLike, transport.FetchLike];
  OAuthClientProvider: [ownOauth.OAuthClientProvider, client.OAuthClientProvider];
  OAuthDiscoveryState: [ownOauth.OAuthDiscoveryState, client.OAuthDiscoveryState];
  OAuthTokens: [ownOauth.OAuthTokens, oauth.OAuthTokens];
  OAuthClientMetadata: [ownOauth.OAuthClientMetadata, oauth.OAuthClientMetadata];
  OAuthClientInformationMixed: [ownOauth.OAuthClientInformationMixed, oauth.OAuthClientInformationMixed];
  AuthorizationServerMetadata: [ownOauth.AuthorizationServerMetadata, oauth.AuthorizationServerMetadata];
  OAuthProtectedResourceMetadata: [
    ownOauth.OAuthProtectedResourceMetadata,
    oauth.OAuthProtectedResourceMetadata,
  ];
}

type Misfits = {
  [Name in keyof Pairs]: Pairs[Name][0] extends Pairs[Name][1]
    ? Pairs[Name][1] extends Pairs[Name][0]
      ? never
      : Name
    : Name;
}[keyof Pairs];

/** The names of the types that do not fit; the compiler rejects this if there are any. */
export const noMisfit = (name: Misfits): never => name;
