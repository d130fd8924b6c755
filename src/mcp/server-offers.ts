/** What a server offers, and the results of using it (MCP 2025-11-25). */
import type {
  Annotations,
  BlobResourceContents,
  ContentBlock,
  Icon,
  Meta,
  Role,
  TextResourceContents,
} from './content.js';
import type { Result } from './messages.js';

/** JSON Schema of the arguments or of the data of a tool. */
export type ToolSchema = {
  /** Any further keyword. */
  [keyword: string]: unknown;
  /** Always `object`. */
  type: 'object';
  /** Schemas of the fields, by name. */
  properties?: Record<string, object> | undefined;
  /** Names of the fields that must be present. */
  required?: string[] | undefined;
};

/** Hints of a server about a tool. They may be wrong. */
export type ToolAnnotations = {
  /** Name for people. */
  title?: string | undefined;
  /** True if the tool changes nothing. Default: false. */
  readOnlyHint?: boolean | undefined;
  /** True if the tool may delete or overwrite. Default: true. */
  destructiveHint?: boolean | undefined;
  /** True if a repeated call with the same arguments changes nothing more. Default: false. */
  idempotentHint?: boolean | undefined;
  /** True if the tool uses an open world, such as the web. Default: true. */
  openWorldHint?: boolean | undefined;
};

/** A tool as its server lists it. */
export type Tool = {
  /** Name for programs. */
  name: string;
  /** Name for people. */
  title?: string | undefined;
  /** What it does, for a model. */
  description?: string | undefined;
  /** JSON Schema of the arguments. */
  inputSchema: ToolSchema;
  /** JSON Schema of `structuredContent` of a result. */
  outputSchema?: ToolSchema | undefined;
  /** Hints of the server. */
  annotations?: ToolAnnotations | undefined;
  /** How it is to be called. */
  execution?:
    | {
        /** Whether a call may or must be a task. Default: `forbidden`. */
        taskSupport?: 'required' | 'optional' | 'forbidden' | undefined;
      }
    | undefined;
  /** Icons for display. */
  icons?: Icon[] | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Result of a call. */
export type CallToolResult = Result & {
  /** What the tool returned, for a model or a person. */
  content: ContentBlock[];
  /** The same as data, if the tool has an `outputSchema`. */
  structuredContent?: Record<string, unknown> | undefined;
  /** True if the tool failed; `content` says why. Default: false. */
  isError?: boolean | undefined;
};

/** A family of resources that a server offers. */
export type ResourceTemplate = {
  /** Template of their URIs (RFC 6570). */
  uriTemplate: string;
  /** Name for programs. */
  name: string;
  /** Name for people. */
  title?: string | undefined;
  /** What they hold. */
  description?: string | undefined;
  /** MIME type, if all have the same. */
  mimeType?: string | undefined;
  /** Icons for display. */
  icons?: Icon[] | undefined;
  /** Hints on how to use them. */
  annotations?: Annotations | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Result of reading a resource. */
export type ReadResourceResult = Result & {
  /** Its text or data; several for a folder. */
  contents: (TextResourceContents | BlobResourceContents)[];
};

/** An argument of a prompt. */
export type PromptArgument = {
  /** Name of the argument. */
  name: string;
  /** What it is for. */
  description?: string | undefined;
  /** True if the prompt needs it. Default: false. */
  required?: boolean | undefined;
};

/** A prompt as its server lists it. */
export type Prompt = {
  /** Name for programs. */
  name: string;
  /** Name for people. */
  title?: string | undefined;
  /** What it is for. */
  description?: string | undefined;
  /** Its arguments. */
  arguments?: PromptArgument[] | undefined;
  /** Icons for display. */
  icons?: Icon[] | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** A message of a prompt. */
export type PromptMessage = {
  /** Who speaks. */
  role: Role;
  /** What is said. */
  content: ContentBlock;
};

/** A prompt with its arguments filled in. */
export type GetPromptResult = Result & {
  /** What the prompt is for. */
  description?: string | undefined;
  /** The messages, in order. */
  messages: PromptMessage[];
};

/** Proposals for the value of an argument. */
export type CompleteResult = Result & {
  /** The proposals. */
  completion: {
    /** Any further field. */
    [field: string]: unknown;
    /** Values, the best first; 100 at most. */
    values: string[];
    /** Number of all matching values, if known. */
    total?: number | undefined;
    /** True if there are more than these. */
    hasMore?: boolean | undefined;
  };
};
