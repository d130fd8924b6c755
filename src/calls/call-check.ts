/**
 * Validates the arguments and the result of a call against the schemas of the tool.
 *
 * Arguments that do not fit are adapted if that helps (`coerce.ts`); otherwise they are not sent. A result is kept as it is,
 * since the server has already acted. A value that cannot be judged passes: the server judges it. Messages contain no value,
 * only its path and what the schema expects there.
 */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { CallToolResult, Tool } from '../mcp/server-offers.js';
import { cutText } from '../text/visible-text.js';
import { InvalidArgumentsError } from '../errors.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import { problemsInWords } from '../text/error-message.js';
import type { Mask } from '../secrets/secrets.js';
import type { SessionKey } from '../../machines/connection/connection.events.js';
import { coerce, type Change } from '../schemas/coerce.js';
import type { SchemaProblem } from '../schemas/explain.js';
import { SchemaValidator } from '../schemas/schema-validator.js';

const MAX_PATH = 200;

const HOW: Readonly<Record<Change['how'], string>> = {
  'left-out': 'was null and was left out',
  parsed: 'was text and was parsed',
};

export interface CallCheckPorts {
  readonly publish: (event: LifecycleEventBody) => void;
  /** Masks the secrets of a server's entry. */
  readonly mask: (server: string) => Mask;
  readonly validator: SchemaValidator;
  /** Whether arguments are validated at all. */
  readonly checksArguments: boolean;
  /** Whether arguments that do not fit are adapted, unless a call decides otherwise. */
  readonly coercesArguments: boolean;
}

export class CallCheck {
  readonly #ports: CallCheckPorts;
  readonly #byName = new WeakMap<readonly Tool[], ReadonlyMap<string, Tool>>();
  /** What `loading` has found to fit, for `judge` in the same turn. */
  #fitting: { readonly schema: object; readonly args: object } | undefined;

  constructor(ports: CallCheckPorts) {
    this.#ports = ports;
  }

  /** Resolves when the call can be judged; undefined if that is now. */
  loading(tools: readonly Tool[], name: string, args: object): Promise<void> | undefined {
    const { validator, checksArguments } = this.#ports;
    this.#fitting = undefined;
    if (validator.isLoaded) return undefined;
    const { inputSchema, outputSchema } = this.#tool(tools, name) ?? {};
    if (asks(outputSchema)) return validator.load();
    if (!checksArguments || !asks(inputSchema)) return undefined;
    const { kind } = validator.check(inputSchema, args);
    if (kind === 'fits') this.#fitting = { schema: inputSchema, args };
    return kind === 'unknown' ? validator.load() : undefined;
  }

  /** The arguments to send, or the reason why none may be sent. `coerces`: whether they may be adapted for this call. */
  judge(
    key: SessionKey,
    tools: readonly Tool[],
    name: string,
    args: object,
    coerces = this.#ports.coercesArguments,
  ): object | InvalidArgumentsError {
    const { validator, checksArguments, mask } = this.#ports;
    const schema = this.#tool(tools, name)?.inputSchema;
    if (!asks(schema) || !(checksArguments || coerces)) return args;
    const fits = this.#fitting?.schema === schema && this.#fitting.args === args;
    this.#fitting = undefined;
    if (fits) return args;
    const given = validator.check(schema, args);
    const adapted = given.kind !== 'fits' && coerces ? coerce(args, schema) : { value: args, changes: [] };
    const isAdapted = adapted.changes.length > 0;
    const verdict = isAdapted ? validator.check(schema, adapted.value) : given;
    if (checksArguments) {
      if (verdict.kind === 'unknown') this.#reportUnchecked(key, name, 'input', verdict.why);
      if (verdict.kind === 'misfit') {
        const problems = verdict.problems.map((problem) => toMasked(problem, mask(key.name)));
        return new InvalidArgumentsError(mask(key.name)(name), problems, { server: key.name });
      }
    }
    if (isAdapted) this.#reportCoerced(key, name, adapted.changes);
    return adapted.value as object;
  }

  /** Reports if a result does not fit the output schema (MCP specification 2025-11-25, "Output Schema"). */
  checkOutput(key: SessionKey, tools: readonly Tool[], name: string, result: CallToolResult): void {
    const schema = this.#tool(tools, name)?.outputSchema;
    if (schema === undefined || result.isError === true) return;
    const { structuredContent } = result;
    if (structuredContent === undefined) {
      this.#reportMisfit(key, name, [{ path: '', message: 'is missing' }]);
      return;
    }
    if (SchemaValidator.asksNothing(schema)) return;
    const verdict = this.#ports.validator.check(schema, structuredContent);
    if (verdict.kind === 'unknown') this.#reportUnchecked(key, name, 'output', verdict.why);
    if (verdict.kind === 'misfit') this.#reportMisfit(key, name, verdict.problems);
  }

  #tool(tools: readonly Tool[], name: string): Tool | undefined {
    let known = this.#byName.get(tools);
    if (known === undefined) {
      known = new Map(tools.map((tool) => [tool.name, tool]));
      this.#byName.set(tools, known);
    }
    return known.get(name);
  }

  #reportMisfit(key: SessionKey, tool: string, found: readonly SchemaProblem[]): void {
    const mask = this.#ports.mask(key.name);
    const problems = found.map((problem) => toMasked(problem, mask));
    const what = `The structured content of '${mask(tool)}' does not fit its output schema`;
    this.#diagnose(
      key,
      tool,
      'invalid-output',
      `${what}: ${problemsInWords(problems, 'structuredContent')}.`,
    );
  }

  #reportCoerced(key: SessionKey, tool: string, changes: readonly Change[]): void {
    const mask = this.#ports.mask(key.name);
    const places = changes.map(({ path, how }) => toMasked({ path, message: HOW[how] }, mask));
    const what = `The arguments of '${mask(tool)}' were adapted to its input schema`;
    this.#diagnose(key, tool, 'arguments-coerced', `${what}: ${problemsInWords(places, 'arguments')}.`);
  }

  #reportUnchecked(key: SessionKey, tool: string, which: 'input' | 'output', why: string | undefined): void {
    if (why === undefined) return;
    const mask = this.#ports.mask(key.name);
    const message = `The ${which} schema of '${mask(tool)}' is not checked against: ${mask(why)}.`;
    this.#diagnose(key, tool, 'schema-not-checked', message);
  }

  #diagnose(key: SessionKey, tool: string, kind: DiagnosticKind, message: string): void {
    const { publish, mask } = this.#ports;
    const about = { server: key.name, generation: key.generation };
    publish({ type: 'diagnostic', ...about, kind, tool: mask(key.name)(tool), message: cutText(message) });
  }
}

function asks(schema: object | undefined): schema is object {
  return schema !== undefined && !SchemaValidator.asksNothing(schema);
}

/** The names of fields are masked too: they may be anything, above all in a result. */
function toMasked({ path, message }: SchemaProblem, mask: Mask): SchemaProblem {
  const printable = mask(path).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return { path: cutText(printable, MAX_PATH), message: mask(message) };
}
