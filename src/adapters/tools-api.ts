/**
 * The tools as an API in TypeScript, for a model that writes code. Pure; as detailed as a number of tokens allows: first with
 * all documentation, then with the beginning of each description, then signatures alone, and at last only the names of the
 * servers. Then the model searches.
 */
import type { CatalogTool } from '../catalog/registry.js';
import { camelNames } from '../catalog/tool-methods.js';
import { firstSentence, toSignature } from '../catalog/tool-signature.js';
import { byServer, typesOfTool, uniqueNames } from '../catalog/tool-types.js';
import { docComment, keyText } from '../schemas/type-text.js';
import { visibleText } from '../text/visible-text.js';
import { tokensOfText } from '../search/offer.js';

/** The text, and whether it leaves something out that a search finds. */
export interface ToolsApi {
  readonly text: string;
  readonly isWhole: boolean;
}

export function toolsApi(tools: readonly CatalogTool[], maxTokens: number): ToolsApi {
  const forms: readonly ((tools: readonly CatalogTool[]) => ToolsApi)[] = [
    (all) => ({ text: declarationsOf(all, 'whole'), isWhole: true }),
    (all) => ({ text: declarationsOf(all, 'short'), isWhole: true }),
    (all) => ({ text: signaturesOf(all), isWhole: false }),
  ];
  for (const form of forms) {
    const api = form(tools);
    if (tokensOfText(api.text) <= maxTokens) return api;
  }
  return { text: serversOf(tools), isWhole: false };
}

/** `tools` with a method for each tool, and the types that these need. */
export function declarationsOf(tools: readonly CatalogTool[], docs: 'whole' | 'short'): string {
  const claim = uniqueNames();
  const further: string[] = [];
  const servers = [...byServer(tools)].map(([server, own]) => {
    const methods = own.map((tool) => {
      const { args, output } = typesOfTool(tool, claim, docs === 'whole');
      const inlined = [args, output].map(([first, ...others]) => {
        const refersToItself = others.some(({ text }) => first !== undefined && hasName(text, first.name));
        const isNamed = first !== undefined && (refersToItself || hasName(first.text, first.name));
        for (const { name, text } of isNamed ? [first, ...others] : others)
          further.push(`type ${name} = ${text};\n`);
        return isNamed ? first.name : first?.text.replaceAll('\n', '\n    ');
      });
      const [argsText = 'object', outputText = 'string'] = inlined;
      const optional = isOptional(tool) ? '?' : '';
      const doc = docComment(describe(tool, docs), '    ');
      return `${doc}    ${methodOf(tool, own)}(args${optional}: ${argsText}): Promise<${outputText}>;\n`;
    });
    return `  ${keyText(server)}: {\n${methods.join('')}  };\n`;
  });
  return [`declare const tools: {\n${servers.join('')}};\n`, ...further].join('');
}

/** One line for each tool. */
function signaturesOf(tools: readonly CatalogTool[]): string {
  const lines = [...byServer(tools)].flatMap(([server, own]) =>
    own.map((tool) => {
      const text = describe(tool, 'short');
      const signature = toSignature({ ...tool, tool: methodOf(tool, own) });
      return `${placeOf(server)}.${signature}${text === '' ? '' : ` // ${text}`}\n`;
    }),
  );
  return lines.join('');
}

function serversOf(tools: readonly CatalogTool[]): string {
  return [...byServer(tools)].map(([server, own]) => `${placeOf(server)}: ${own.length} tools\n`).join('');
}

function placeOf(server: string): string {
  const key = keyText(server);
  return key.startsWith('"') ? `tools[${key}]` : `tools.${key}`;
}

function methodOf({ tool }: CatalogTool, own: readonly CatalogTool[]): string {
  return keyText(camelNames(own.map((each) => each.tool)).get(tool) ?? tool);
}

function describe({ description, title }: CatalogTool, docs: 'whole' | 'short'): string {
  const text = description ?? title ?? '';
  if (docs === 'whole') return text;
  const line = visibleText(text.replaceAll(/\s+/g, ' ').trim());
  return firstSentence(line).slice(0, MAX_SHORT);
}

const MAX_SHORT = 120;

function isOptional({ inputSchema }: CatalogTool): boolean {
  const { required, anyOf, oneOf, allOf, $ref } = inputSchema;
  return (
    [required].flat().filter(Boolean).length === 0 &&
    [anyOf, oneOf, allOf, $ref].every((each) => each === undefined)
  );
}

function hasName(text: string, name: string): boolean {
  return text.includes(name);
}
