/** A held tool as a host shows it to a person, and the errors of a call to it and of an outdated acceptance. */
import type { HeldPrint, HeldReason, ReviewedField, ReviewedTool } from '../../machines/policy/review.js';
import { cutText } from '../text/visible-text.js';
import { ToolHeldError } from '../errors.js';
import type { Mask } from '../secrets/secrets.js';
import { changedFields } from '../catalog/tool-fingerprint.js';

/** What an acceptance refers to: a tool as it was inspected. */
export interface ToolToAccept {
  /** Name of the server. */
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
  /** Fingerprint of the inspected definition; see `HeldTool`. */
  readonly fingerprint: string;
}

/** A tool that the model does not see until a person accepts it. */
export interface HeldTool extends ToolToAccept {
  /** The name for the model that it has once it is accepted. */
  readonly name: string;
  /**
   * `new`: no tool of that name was accepted. `changed`: another definition was. `unknown`: the accepted
   * definition cannot be read.
   */
  readonly reason: HeldReason;
  /**
   * Fields that differ from the accepted definition; all fields of a tool that was never accepted. Empty if
   * only a secret differs.
   */
  readonly fields: readonly ReviewedField[];
  /** The accepted definition; null if there is none, or if it cannot be read. */
  readonly accepted: ReviewedTool | null;
  /** The definition as the server has it now, with secrets masked. It is untrusted text. */
  readonly listed: ReviewedTool;
}

/** A held tool with the definitions to compare. */
export interface HeldDefinition extends HeldPrint {
  /** Name of the server. */
  readonly server: string;
  /** The definition as the server has it now. */
  readonly listed: ReviewedTool;
  /** The accepted definition; undefined if there is none, or if it is unknown. */
  readonly accepted: ReviewedTool | undefined;
}

export function toHeldTool(held: HeldDefinition, name: string): HeldTool {
  const { server, tool, fingerprint, reason, listed, accepted } = held;
  const fields = changedFields(accepted, listed);
  return Object.freeze({
    name,
    server,
    tool,
    reason,
    fields,
    fingerprint,
    accepted: accepted ?? null,
    listed,
  });
}

const WHY: Readonly<Record<HeldReason, (fields: readonly string[]) => string>> = {
  new: () => 'it is new: the tools of its server were accepted without it',
  changed: (fields) =>
    `it has changed since it was accepted (${fields.join(', ') || 'a secret of its entry that it repeats'})`,
  unknown: () => 'the accepted tools of its server could not be read',
};

/** Why a tool is held, with names of fields but without their content. */
export function whyHeld(reason: HeldReason, fields: readonly string[]): string {
  return WHY[reason](fields);
}

/** The error of a call that was not sent. */
export function heldError(held: HeldDefinition, mask: Mask): ToolHeldError {
  return toError(
    held,
    mask,
    (tool, why) =>
      `${tool} was not called: it is held back, since ${why}. A person has to accept it, in the host or with 'troupe review'.`,
  );
}

/** The error of an acceptance whose definition is not the held one. */
export function outdatedAcceptance(held: HeldDefinition, mask: Mask): ToolHeldError {
  return toError(
    held,
    mask,
    (tool) => `${tool} was not accepted: its definition has changed since it was inspected.`,
  );
}

function toError(
  { server, tool: raw, reason, fingerprint, accepted, listed }: HeldDefinition,
  mask: Mask,
  say: (tool: string, why: string) => string,
): ToolHeldError {
  const fields = changedFields(accepted, listed);
  const tool = mask(raw);
  const message = cutText(say(`'${tool}' of '${server}'`, whyHeld(reason, fields)));
  return new ToolHeldError(message, { server, tool, reason, fields, fingerprint });
}
