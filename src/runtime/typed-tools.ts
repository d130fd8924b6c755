/** Tools as methods, typed by what `troupe generate` writes. */
import type { CallOptions } from '../calls/call.js';
import type { CatalogTool } from '../catalog/registry.js';
import { isMethodName } from '../catalog/tool-methods.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { CallToolResult } from '../mcp/server-offers.js';

/** What is known of a tool, as `troupe generate` writes it. */
export interface ToolTypes {
  /** The arguments. */
  readonly args: object;
  /** `structuredContent` of a result. Absent if the tool has no output schema. */
  readonly output?: unknown;
  /** Present if the name in camel case is ambiguous: then only the exact name is a method. */
  readonly exact?: true;
}

/**
 * The result of a tool with these types.
 *
 * @typeParam T The types of the tool.
 */
export type ResultOf<T> = T extends { readonly output: infer Output }
  ? CallToolResult & {
      /** The same as data. Absent if the tool failed. */
      structuredContent?: Output | undefined;
    }
  : CallToolResult;

/**
 * A name in camel case: `readGraph` for `read_graph`.
 *
 * @typeParam Name The name.
 * @typeParam Separators What separates the words of a name.
 */
export type CamelCase<Name, Separators = ['_', '-', '.', '/', ' ', ':']> = Separators extends [
  infer Separator extends string,
  ...infer Others,
]
  ? Name extends `${infer First}${Separator}${infer Rest}`
    ? CamelCase<`${First}${Capitalize<Rest>}`, Separators>
    : CamelCase<Name, Others>
  : Name;

/**
 * A tool as a method.
 *
 * @typeParam T The types of the tool.
 */
export type ToolMethod<T> = T extends { readonly args: infer Args }
  ? {} extends Args
    ? (args?: Args, options?: CallOptions) => Promise<ResultOf<T>>
    : (args: Args, options?: CallOptions) => Promise<ResultOf<T>>
  : never;

/**
 * The tools of one server as methods, by their exact names and in camel case.
 *
 * @typeParam T The types of the tools, by name.
 */
export type ToolMethods<T> = {
  readonly [
    Name in keyof T as Exclude<
      T[Name] extends { readonly exact: true } ? Name : Name | (CamelCase<Name> & string),
      'then' | 'toJSON'
    >
  ]: ToolMethod<T[Name]>;
};

/**
 * The tools of servers as methods, by server.
 *
 * @typeParam T The types of the tools, by server and name.
 */
export type TypedTools<T> = {
  readonly [Server in keyof T as Exclude<Server | CamelCase<Server>, 'then' | 'toJSON'>]: ToolMethods<
    T[Server]
  >;
};

type CallMethod = (
  server: string,
  method: string,
  args: object | undefined,
  options: CallOptions | undefined,
) => Promise<CallToolResult>;

/** Methods are looked up when they are called: tools come and go. */
export function typedTools<T>(call: CallMethod): TypedTools<T> {
  return fieldsBy((server) =>
    fieldsBy((method) => (args?: object, options?: CallOptions) => call(server, method, args, options)),
  ) as TypedTools<T>;
}

function fieldsBy(make: (name: string) => unknown): object {
  const target = Object.freeze(Object.create(null) as object);
  return new Proxy(target, {
    get: (_, name) => (typeof name === 'string' && isMethodName(name) ? make(name) : undefined),
  });
}

/** Where a method finds its tool: a troupe or a view. */
export interface MethodScope {
  readonly tools: readonly CatalogTool[];
  readonly status: readonly Pick<ServerStatus, 'server'>[];
  callTool(name: string, args: object, options: CallOptions): Promise<CallToolResult>;
}
