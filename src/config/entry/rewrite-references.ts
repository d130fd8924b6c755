/** Replaces some references of an entry and leaves everything else as written. Looks nothing up. */
import type { ServerConfig } from './server-config.js';
import { mapTexts } from './entry-texts.js';
import {
  escapeTemplate,
  isBuiltin,
  parseTemplate,
  variablesIn,
  type Part,
  type Reading,
  type Variable,
} from './template.js';

/** The text that replaces a reference: `literal` as it is, `template` to be read like any other. */
export type Replacement = { readonly literal: string } | { readonly template: string };

/** Undefined leaves a reference as it is. */
export type Replace = (variable: Variable) => Replacement | undefined;

export function rewriteReferences(config: ServerConfig, replace: Replace): ServerConfig {
  return mapTexts(config, (text, { reading }) => {
    const parts = parseTemplate(text, reading);
    const isConcerned = variablesIn(parts).some((variable) => replace(variable) !== undefined);
    return isConcerned ? write(parts, reading, replace) : text;
  });
}

/** Adjacent texts are joined before their dollars are doubled, because the meaning of a dollar depends on what follows. */
function write(parts: readonly Part[], reading: Reading, replace: Replace): string {
  let written = '';
  let text = '';
  const flush = (isBeforeReference: boolean): void => {
    const escaped = escapeTemplate(text, reading);
    written += isBeforeReference ? escaped.replace(/\$+$/, (dollars) => dollars + dollars) : escaped;
    text = '';
  };
  for (const part of parts) {
    const replacement = part.kind === 'text' ? { literal: part.text } : replace(part);
    if (replacement !== undefined && 'literal' in replacement) {
      text += replacement.literal;
      continue;
    }
    flush(true);
    if (replacement !== undefined) written += replacement.template;
    else if (part.kind === 'variable') written += writeReference(part, reading, replace);
  }
  flush(false);
  return written;
}

function writeReference(variable: Variable, reading: Reading, replace: Replace): string {
  const { fallback, isBare, name } = variable;
  if (isBare) return `\${${name}:-$$${name}}`;
  const rest = fallback === undefined ? '' : `:-${write(fallback, reading, withoutBraces(replace))}`;
  return `\${${nameOf(variable)}${rest}}`;
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
