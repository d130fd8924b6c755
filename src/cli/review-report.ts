/**
 * A tool that is held back, as a person has to see it before saying yes: what was approved, and what there is now.
 * Nothing is hidden and nothing is cut: whoever wants to be read by a model only would hide it just there.
 */
import type { ReviewedField, ReviewedTool } from '../review/fingerprint.js';
import type { HeldTool } from '../review/held-tool.js';
import type { Colors } from './colors.js';
import { visibleText } from './visible-text.js';

const WHY: Readonly<Record<HeldTool['reason'], string>> = {
  new: 'is new',
  changed: 'has changed',
  unknown: 'is held: what was approved cannot be read',
};

export function renderHeld(held: HeldTool, colors: Colors): string {
  const { server, tool, reason, fields, approved, listed } = held;
  const title = `${colors.bold(visibleText(`${server}/${tool}`))} ${WHY[reason]}`;
  return [title, ...fields.flatMap((field) => renderField(field, approved, listed, colors))].join('\n');
}

function renderField(
  field: ReviewedField,
  approved: ReviewedTool | null,
  listed: ReviewedTool,
  colors: Colors,
): string[] {
  const before = linesOf(approved?.[field]);
  const now = linesOf(listed[field]);
  const head = sameAtStart(before, now);
  const tail = sameAtStart(before.slice(head).reverse(), now.slice(head).reverse());
  const same = (lines: readonly string[]): string[] => lines.map((line) => colors.dim(`      ${line}`));
  return [
    `  ${field}`,
    ...same(now.slice(0, head)),
    ...before.slice(head, before.length - tail).map((line) => colors.red(`    - ${line}`)),
    ...now.slice(head, now.length - tail).map((line) => colors.green(`    + ${line}`)),
    ...same(now.slice(now.length - tail)),
  ];
}

function linesOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.split('\n').map(visibleText);
}

/** How many lines two texts have in common before they part. */
function sameAtStart(a: readonly string[], b: readonly string[]): number {
  const parting = a.findIndex((line, index) => line !== b[index]);
  return parting === -1 ? Math.min(a.length, b.length) : parting;
}
