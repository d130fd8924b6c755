/**
 * Compares what is sent with what a tool says it takes, and what comes with what it says it gives.
 *
 * What does not fit is not sent; what came is kept as it is, since the server has acted by then. Who cannot be judged
 * goes through: the server judges for itself. No value is told, only where it is and what is wanted there.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { cutText } from '../cut-text.js';
import { InvalidArgumentsError } from '../errors.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import { problemsInWords } from '../problems-in-words.js';
import type { Mask } from '../secrets.js';
import type { SessionKey } from '../../machines/connection.events.js';
import type { SchemaProblem } from '../validation/explain.js';
import { SchemaValidator } from '../validation/schema-validator.js';

const LONGEST_PATH = 200;

export interface CallCheckPorts {
  readonly publish: (event: LifecycleEventBody) => void;
  /** Strikes out the secrets of a server's entry. */
  readonly mask: (server: string) => Mask;
  readonly validator: SchemaValidator;
  /** Whether arguments are compared at all. */
  readonly checksArguments: boolean;
}

export class CallCheck {
  readonly #ports: CallCheckPorts;
  readonly #byName = new WeakMap<readonly Tool[], ReadonlyMap<string, Tool>>();

  constructor(ports: CallCheckPorts) {
    this.#ports = ports;
  }

  /** What has to be waited for before that call can be judged; undefined where nothing has. */
  loading(tools: readonly Tool[], name: string, args: object): Promise<void> | undefined {
    const { validator, checksArguments } = this.#ports;
    if (validator.isLoaded) return undefined;
    const { inputSchema, outputSchema } = this.#tool(tools, name) ?? {};
    const isOpen =
      checksArguments && asks(inputSchema) && validator.check(inputSchema, args).kind === 'unknown';
    return isOpen || asks(outputSchema) ? validator.load() : undefined;
  }

  /** Why the arguments may not be sent; undefined where they may. */
  refusal(key: SessionKey, tools: readonly Tool[], name: string, args: object): Error | undefined {
    const { validator, checksArguments, mask } = this.#ports;
    const schema = this.#tool(tools, name)?.inputSchema;
    if (schema === undefined || !checksArguments || SchemaValidator.asksNothing(schema)) return undefined;
    const verdict = validator.check(schema, args);
    if (verdict.kind === 'unknown') this.#tellUnchecked(key, name, 'input', verdict.why);
    if (verdict.kind !== 'misfit') return undefined;
    const problems = verdict.problems.map((problem) => toTold(problem, mask(key.name)));
    return new InvalidArgumentsError(mask(key.name)(name), problems, { server: key.name });
  }

  /** Tells where a result is not what the tool promised (MCP specification 2025-11-25, "Output Schema"). */
  heed(key: SessionKey, tools: readonly Tool[], name: string, result: CallToolResult): void {
    const schema = this.#tool(tools, name)?.outputSchema;
    if (schema === undefined || result.isError === true) return;
    const { structuredContent } = result;
    if (structuredContent === undefined) {
      this.#tellMisfit(key, name, [{ path: '', message: 'is missing' }]);
      return;
    }
    if (SchemaValidator.asksNothing(schema)) return;
    const verdict = this.#ports.validator.check(schema, structuredContent);
    if (verdict.kind === 'unknown') this.#tellUnchecked(key, name, 'output', verdict.why);
    if (verdict.kind === 'misfit') this.#tellMisfit(key, name, verdict.problems);
  }

  #tool(tools: readonly Tool[], name: string): Tool | undefined {
    const known = this.#byName.get(tools) ?? new Map(tools.map((tool) => [tool.name, tool]));
    this.#byName.set(tools, known);
    return known.get(name);
  }

  #tellMisfit(key: SessionKey, tool: string, found: readonly SchemaProblem[]): void {
    const mask = this.#ports.mask(key.name);
    const problems = found.map((problem) => toTold(problem, mask));
    const what = `The structured content of '${mask(tool)}' does not fit its output schema`;
    this.#tell(key, tool, 'invalid-output', `${what}: ${problemsInWords(problems, 'structuredContent')}.`);
  }

  #tellUnchecked(key: SessionKey, tool: string, which: 'input' | 'output', why: string | undefined): void {
    if (why === undefined) return;
    const mask = this.#ports.mask(key.name);
    const message = `The ${which} schema of '${mask(tool)}' is not checked against: ${mask(why)}.`;
    this.#tell(key, tool, 'schema-not-checked', message);
  }

  #tell(key: SessionKey, tool: string, kind: string, message: string): void {
    const { publish, mask } = this.#ports;
    const about = { connection: key.name, generation: key.generation };
    publish({ type: 'diagnostic', ...about, kind, tool: mask(key.name)(tool), message: cutText(message) });
  }
}

function asks(schema: object | undefined): schema is object {
  return schema !== undefined && !SchemaValidator.asksNothing(schema);
}

/** Names of fields may be anything, in a result above all. */
function toTold({ path, message }: SchemaProblem, mask: Mask): SchemaProblem {
  const printable = mask(path).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return { path: cutText(printable, LONGEST_PATH), message: mask(message) };
}
