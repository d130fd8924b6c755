/** Replaces some references of an entry and leaves everything else as written. Looks nothing up. */
import type { ServerConfig } from './server-config.js';
import { mapTexts } from './entry-texts.js';
import {
  isBuiltin,
  joinTemplate,
  parseTemplate,
  variablesIn,
  type Part,
  type Piece,
  type Variable,
} from './template.js';

/** The text that replaces a reference: `literal` as it is, `template` to be read like any other. */
export type Replacement = { readonly literal: string } | { readonly template: string };

/** Undefined leaves a reference as it is. */
export type Replace = (variable: Variable) => Replacement | undefined;

export function rewriteReferences(config: ServerConfig, replace: Replace): ServerConfig {
  return mapTexts(config, (text, { syntax }) => {
    const parts = parseTemplate(text, syntax);
    const isAffected = variablesIn(parts).some((variable) => replace(variable) !== undefined);
    return isAffected ? joinTemplate(write(parts, replace), syntax) : text;
  });
}

function write(parts: readonly Part[], replace: Replace): readonly Piece[] {
  return parts.flatMap((part): readonly Piece[] => {
    if (part.kind === 'text') return [{ text: part.text, isLiteral: true }];
    const replacement = replace(part);
    if (replacement === undefined) return writeReference(part, replace);
    if ('literal' in replacement) return [{ text: replacement.literal, isLiteral: true }];
    return [reference(replacement.template)];
  });
}

function writeReference(variable: Variable, replace: Replace): readonly Piece[] {
  const { fallback, isBare, name } = variable;
  if (isBare) return [reference(`\${${name}:-$$${name}}`)];
  if (fallback === undefined) return [reference(`\${${nameOf(variable)}}`)];
  return [reference(`\${${nameOf(variable)}:-`), ...write(fallback, withoutBraces(replace)), reference('}')];
}

function reference(text: string): Piece {
  return { text, isLiteral: false };
}

/** A brace would close the default. */
function withoutBraces(replace: Replace): Replace {
  return (variable) => {
    const replacement = replace(variable);
    const isClosing =
      replacement !== undefined && 'literal' in replacement && /[{}]/.test(replacement.literal);
    return isClosing ? undefined : replacement;
  };
}

/** A host's variable with the name of a builtin is written with its origin. */
function nameOf({ origin, name }: Variable): string {
  return origin === 'host' && isBuiltin(name) ? `env:${name}` : name;
}
