/** What the two sides of a session say about themselves (MCP 2025-11-25). */
import type { Icon } from './content.js';

/** A program that speaks MCP. */
export type Implementation = {
  /** Name for programs. */
  name: string;
  /** Name for people. */
  title?: string | undefined;
  /** Version of the program. */
  version: string;
  /** What it does. */
  description?: string | undefined;
  /** Its website. */
  websiteUrl?: string | undefined;
  /** Icons for display. */
  icons?: Icon[] | undefined;
};

/** What a client can do. Present means supported. */
export type ClientCapabilities = {
  /** Capabilities outside the specification, by name. */
  experimental?: Record<string, object> | undefined;
  /** It lets servers use its model. */
  sampling?:
    | {
        /** It obeys `includeContext`. */
        context?: object | undefined;
        /** It obeys `tools` and `toolChoice`. */
        tools?: object | undefined;
      }
    | undefined;
  /** It asks people for servers. */
  elicitation?:
    | {
        /** Any further field. */
        [field: string]: unknown;
        /** It shows forms. */
        form?:
          | {
              /** Any further field. */
              [field: string]: unknown;
              /** It fills in the defaults of the form. */
              applyDefaults?: boolean | undefined;
            }
          | undefined;
        /** It opens addresses. */
        url?: object | undefined;
      }
    | undefined;
  /** It answers `roots/list`: the folders in which it works. */
  roots?:
    | {
        /** It sends a notification when they change. */
        listChanged?: boolean | undefined;
      }
    | undefined;
  /** It runs requests of servers as tasks: for sampling (`sampling/createMessage`) and for elicitation (`elicitation/create`). */
  tasks?:
    | TaskCapability<{
        /** Any further field. */
        [field: string]: unknown;
        /** Requests for sampling. */
        sampling?: TaskMethods<'createMessage'> | undefined;
        /** Requests for elicitation. */
        elicitation?: TaskMethods<'create'> | undefined;
      }>
    | undefined;
  /** Extensions of the protocol, by name. */
  extensions?: Record<string, object> | undefined;
};

/**
 * The tasks that one side can run.
 *
 * @typeParam TRequests The requests that may be tasks.
 */
export type TaskCapability<TRequests> = {
  /** Any further field. */
  [field: string]: unknown;
  /** It lists its tasks. */
  list?: object | undefined;
  /** It cancels tasks. */
  cancel?: object | undefined;
  /** The requests that may be tasks. */
  requests?: TRequests | undefined;
};

/**
 * Methods of one kind that may be tasks, and any further field.
 *
 * @typeParam TMethod The last part of the names of the methods.
 */
export type TaskMethods<TMethod extends string> = { [field: string]: unknown } & {
  [M in TMethod]?: object | undefined;
};

/** What a server can do. Present means supported. */
export type ServerCapabilities = {
  /** Capabilities outside the specification, by name. */
  experimental?: Record<string, object> | undefined;
  /** It sends log messages. */
  logging?: object | undefined;
  /** It proposes values of arguments. */
  completions?: object | undefined;
  /** It offers prompts. */
  prompts?:
    | {
        /** It sends a notification when their list changes. */
        listChanged?: boolean | undefined;
      }
    | undefined;
  /** It offers resources. */
  resources?:
    | {
        /** It sends a notification when a subscribed resource changes. */
        subscribe?: boolean | undefined;
        /** It sends a notification when their list changes. */
        listChanged?: boolean | undefined;
      }
    | undefined;
  /** It offers tools. */
  tools?:
    | {
        /** It sends a notification when their list changes. */
        listChanged?: boolean | undefined;
      }
    | undefined;
  /** It runs requests as tasks: calls of tools (`tools/call`). */
  tasks?:
    | TaskCapability<{
        /** Any further field. */
        [field: string]: unknown;
        /** Requests about tools. */
        tools?: TaskMethods<'call'> | undefined;
      }>
    | undefined;
  /** Extensions of the protocol, by name. */
  extensions?: Record<string, object> | undefined;
};

/** Severity of a log message, from the least to the most severe (RFC 5424). */
export type LoggingLevel =
  'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';
