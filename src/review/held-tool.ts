/** A tool that is held back, as a host shows it to a person, and the error of a call to it. */
import type { HeldPrint, HeldReason } from '../../machines/policy/review.js';
import { cutText } from '../cut-text.js';
import { ToolHeldError } from '../errors.js';
import type { Mask } from '../secrets.js';
import { changedFields, type ReviewedField, type ReviewedTool } from './fingerprint.js';

/** What an approval is bound to: a tool, as it was looked at. */
export interface ToolToApprove {
  /** Name of the server. */
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
  /** Of the definition that was looked at; see `HeldTool`. */
  readonly fingerprint: string;
}

/** A tool that is kept from the model until somebody approves it. */
export interface HeldTool extends ToolToApprove {
  /** The name for the model that it has once it is approved. */
  readonly name: string;
  /** `new`: no tool of that name was approved. `changed`: another one was. `unknown`: what was approved cannot be read. */
  readonly reason: HeldReason;
  /** What is other than approved, none where that is a secret; of one that was not, what there is. */
  readonly fields: readonly ReviewedField[];
  /** As it was approved; null where it was not, or where nobody can tell. */
  readonly approved: ReviewedTool | null;
  /** As its server has it now, without secrets of its entry. Its words are the server's: data, not instructions. */
  readonly listed: ReviewedTool;
}

/** A held tool with what there is to compare. */
export interface HeldDefinition extends HeldPrint {
  /** Name of the server. */
  readonly server: string;
  /** As its server has it now. */
  readonly listed: ReviewedTool;
  /** As it was approved; undefined where it was not, or where nobody can tell. */
  readonly approved: ReviewedTool | undefined;
}

export function toHeldTool(held: HeldDefinition, name: string): HeldTool {
  const { server, tool, fingerprint, reason, listed, approved } = held;
  const fields = changedFields(approved, listed);
  return Object.freeze({
    name,
    server,
    tool,
    reason,
    fields,
    fingerprint,
    approved: approved ?? null,
    listed,
  });
}

const WHY: Readonly<Record<HeldReason, (fields: readonly string[]) => string>> = {
  new: () => 'it is new since the tools of its server were approved',
  changed: (fields) =>
    `it has changed since it was approved (${fields.join(', ') || 'a secret of its entry that it repeats'})`,
  unknown: () => 'what was approved of its server could not be read',
};

/** Why a tool is held, with names of fields and nothing of their content. */
export function whyHeld(reason: HeldReason, fields: readonly string[]): string {
  return WHY[reason](fields);
}

/** For a call that was not sent. */
export function heldError(held: HeldDefinition, mask: Mask): ToolHeldError {
  return toError(
    held,
    mask,
    (tool, why) =>
      `${tool} was not called: it is held back, since ${why}. A person has to approve it, in the host or with 'troupe review'.`,
  );
}

/** For an approval of something else than what is held. */
export function outdatedApproval(held: HeldDefinition, mask: Mask): ToolHeldError {
  return toError(
    held,
    mask,
    (tool) =>
      `${tool} was not approved: what is held now is another definition than the one that was looked at.`,
  );
}

function toError(
  { server, tool: raw, reason, fingerprint, approved, listed }: HeldDefinition,
  mask: Mask,
  say: (tool: string, why: string) => string,
): ToolHeldError {
  const fields = changedFields(approved, listed);
  const tool = mask(raw);
  const message = cutText(say(`'${tool}' of '${server}'`, whyHeld(reason, fields)));
  return new ToolHeldError(message, { server, tool, reason, fields, fingerprint });
}
