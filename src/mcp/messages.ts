/** The messages of JSON-RPC 2.0 as MCP uses them. */

/** Identifies a request. Unique among the requests of its sender. */
export type RequestId = string | number;

/** Links progress notifications to the request that they are about. */
export type ProgressToken = string | number;

/** `_meta` of a message: fields beside its own, by name. */
export type MessageMeta = {
  /** Any further field. */
  [field: string]: unknown;
  /** Asks for progress notifications, which carry this token. */
  progressToken?: ProgressToken | undefined;
  /** The task that the message belongs to. */
  'io.modelcontextprotocol/related-task'?:
    | {
        /** Id of the task. */
        taskId: string;
      }
    | undefined;
};

/** Parameters of a request or a notification. */
export type MessageParams = {
  /** Any parameter of the method. */
  [parameter: string]: unknown;
  /** Fields beside the parameters. */
  _meta?: MessageMeta | undefined;
};

/** Result of a request. */
export type Result = {
  /** Any field of the result. */
  [field: string]: unknown;
  /** Fields beside the result. */
  _meta?: MessageMeta | undefined;
};

/** A message that expects an answer. */
export type JSONRPCRequest = {
  /** Always `2.0`. */
  jsonrpc: '2.0';
  /** The answer repeats it. */
  id: RequestId;
  /** Name of the method, such as `tools/call`. */
  method: string;
  /** Parameters of the method. */
  params?: MessageParams | undefined;
};

/** A message that expects no answer. */
export type JSONRPCNotification = {
  /** Always `2.0`. */
  jsonrpc: '2.0';
  /** Name of the notification, such as `notifications/progress`. */
  method: string;
  /** Parameters of the notification. */
  params?: MessageParams | undefined;
};

/** The answer to a request that succeeded. */
export type JSONRPCResultResponse = {
  /** Always `2.0`. */
  jsonrpc: '2.0';
  /** Id of the request. */
  id: RequestId;
  /** What the method returned. */
  result: Result;
};

/** The answer to a request that failed. */
export type JSONRPCErrorResponse = {
  /** Always `2.0`. */
  jsonrpc: '2.0';
  /** Id of the request; absent if it could not be read. */
  id?: RequestId | undefined;
  /** Why it failed. */
  error: {
    /** Code of the error (JSON-RPC 2.0, section 5.1). */
    code: number;
    /** What went wrong, in one sentence. */
    message: string;
    /** Details, as the sender chose. */
    data?: unknown;
  };
};

/** The answer to a request. */
export type JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Any message. */
export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;
