/** What servers ask of a host: its roots, an answer of a model, an answer of a person (MCP 2025-11-25). */
import type { AudioContent, ContentBlock, ImageContent, Meta, Role, TextContent } from './content.js';
import type { MessageMeta, Result } from './messages.js';
import type { Tool } from './server-offers.js';

/** A folder or file that a host works in. */
export type Root = {
  /** A `file://` address. */
  uri: string;
  /** Name for people. */
  name?: string | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Parameters that requests of servers have in common. */
export type ServerRequestParams = {
  /** Fields beside the parameters. */
  _meta?: MessageMeta | undefined;
  /** Asks for the answer as a task. */
  task?:
    | {
        /** How long the result is to be kept, in milliseconds. */
        ttl?: number | undefined;
      }
    | undefined;
};

/** A tool call that a model makes while it answers a server. */
export type ToolUseContent = {
  /** Always `tool_use`. */
  type: 'tool_use';
  /** Id of the call; the result repeats it. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Arguments of the call. */
  input: Record<string, unknown>;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Result of a tool call that a model made. */
export type ToolResultContent = {
  /** Always `tool_result`. */
  type: 'tool_result';
  /** `id` of the call. */
  toolUseId: string;
  /** What the tool returned. */
  content: ContentBlock[];
  /** The same as data. */
  structuredContent?: Record<string, unknown> | undefined;
  /** True if the tool failed. Default: false. */
  isError?: boolean | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** A piece of a message to or from a model. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** A message to a model. */
export type SamplingMessage = {
  /** Who speaks. */
  role: Role;
  /** What is said. */
  content: SamplingContent | SamplingContent[];
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Which model a server would like. The host decides. */
export type ModelPreferences = {
  /** Parts of model names, the best first. */
  hints?:
    | {
        /** Part of the name of a model or of its family. */
        name?: string | undefined;
      }[]
    | undefined;
  /** Importance of a low price, from 0 to 1. */
  costPriority?: number | undefined;
  /** Importance of speed, from 0 to 1. */
  speedPriority?: number | undefined;
  /** Importance of capabilities, from 0 to 1. */
  intelligencePriority?: number | undefined;
};

/** A server's request for a message of the host's model. */
export type CreateMessageRequestParams = ServerRequestParams & {
  /** The conversation so far. */
  messages: SamplingMessage[];
  /** Which model the server would like. */
  modelPreferences?: ModelPreferences | undefined;
  /** System prompt that the server would like. */
  systemPrompt?: string | undefined;
  /** Context of the host that the server would like to be included. */
  includeContext?: 'none' | 'thisServer' | 'allServers' | undefined;
  /** Temperature. */
  temperature?: number | undefined;
  /** Largest number of tokens of the answer. */
  maxTokens: number;
  /** Texts at which the model stops. */
  stopSequences?: string[] | undefined;
  /** Parameters for the provider of the model. */
  metadata?: object | undefined;
  /** Tools that the model may call. */
  tools?: Tool[] | undefined;
  /** Whether the model calls tools. */
  toolChoice?:
    | {
        /** Default: `auto`. */
        mode?: 'auto' | 'required' | 'none' | undefined;
      }
    | undefined;
};

/** The message of a model. */
export type CreateMessageResult = Result & {
  /** Name of the model. */
  model: string;
  /** Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, or a reason of the provider. */
  stopReason?: string | undefined;
  /** Always `assistant` for the answer of a model. */
  role: Role;
  /** What it says. */
  content: TextContent | ImageContent | AudioContent;
};

/** The message of a model that may call tools. */
export type CreateMessageResultWithTools = Result & {
  /** Name of the model. */
  model: string;
  /** Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a reason of the provider. */
  stopReason?: string | undefined;
  /** Always `assistant` for the answer of a model. */
  role: Role;
  /** What it says, and the tools that it calls. */
  content: SamplingContent | SamplingContent[];
};

/** What fields of a form have in common. */
export type FieldLabels = {
  /** Label of the field. */
  title?: string | undefined;
  /** What to fill in. */
  description?: string | undefined;
};

/** A field for text. */
export type TextField = FieldLabels & {
  /** Always `string`. */
  type: 'string';
  /** Smallest number of characters. */
  minLength?: number | undefined;
  /** Largest number of characters. */
  maxLength?: number | undefined;
  /** What the text must be. */
  format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** Value of a field that is left empty. */
  default?: string | undefined;
};

/** A field for a number. */
export type NumberField = FieldLabels & {
  /** Any number, or a whole one. */
  type: 'number' | 'integer';
  /** Smallest value. */
  minimum?: number | undefined;
  /** Largest value. */
  maximum?: number | undefined;
  /** Value of a field that is left empty. */
  default?: number | undefined;
};

/** A field for yes or no. */
export type BooleanField = FieldLabels & {
  /** Always `boolean`. */
  type: 'boolean';
  /** Value of a field that is left empty. */
  default?: boolean | undefined;
};

/** A value to choose, and its name for people. */
export type TitledChoice = {
  /** The value. */
  const: string;
  /** Its name for people. */
  title: string;
};

/** A field for one of several values. */
export type ChoiceField = FieldLabels & {
  /** Always `string`. */
  type: 'string';
  /** The values. */
  enum: string[];
  /** Names of the values for people, in the same order. */
  enumNames?: string[] | undefined;
  /** Value of a field that is left empty. */
  default?: string | undefined;
};

/** A field for one of several values that have names. */
export type TitledChoiceField = FieldLabels & {
  /** Always `string`. */
  type: 'string';
  /** The values. */
  oneOf: TitledChoice[];
  /** Value of a field that is left empty. */
  default?: string | undefined;
};

/** A field for some of several values. */
export type ChoicesField = FieldLabels & {
  /** Always `array`. */
  type: 'array';
  /** Smallest number of values. */
  minItems?: number | undefined;
  /** Largest number of values. */
  maxItems?: number | undefined;
  /** The values. */
  items: {
    /** Always `string`. */
    type: 'string';
    /** The values. */
    enum: string[];
  };
  /** Values of a field that is left empty. */
  default?: string[] | undefined;
};

/** A field for some of several values that have names. */
export type TitledChoicesField = FieldLabels & {
  /** Always `array`. */
  type: 'array';
  /** Smallest number of values. */
  minItems?: number | undefined;
  /** Largest number of values. */
  maxItems?: number | undefined;
  /** The values. */
  items: {
    /** The values, with names. */
    anyOf: TitledChoice[];
  };
  /** Values of a field that is left empty. */
  default?: string[] | undefined;
};

/** A field of a form. */
export type FormField =
  | TextField
  | NumberField
  | BooleanField
  | ChoiceField
  | TitledChoiceField
  | ChoicesField
  | TitledChoicesField;

/** A server's request to ask a person to fill in a form. */
export type ElicitRequestFormParams = ServerRequestParams & {
  /** Absent in older versions of the protocol. */
  mode?: 'form' | undefined;
  /** What the server wants to know. */
  message: string;
  /** The form. */
  requestedSchema: {
    /** Always `object`. */
    type: 'object';
    /** The fields, by name. */
    properties: Record<string, FormField>;
    /** Names of the fields that must be filled in. */
    required?: string[] | undefined;
  };
};

/** A server's request to ask a person to open an address. */
export type ElicitRequestURLParams = ServerRequestParams & {
  /** Always `url`. */
  mode: 'url';
  /** Why the address is to be opened. */
  message: string;
  /** Id of the interaction; the notification that it is complete repeats it. */
  elicitationId: string;
  /** The address. */
  url: string;
};

/** A person's answer. */
export type ElicitResult = Result & {
  /** Whether the person agreed, refused, or made no choice. */
  action: 'accept' | 'decline' | 'cancel';
  /** The fields of the form, if the person agreed. */
  content?: Record<string, string | number | boolean | string[]> | undefined;
};
