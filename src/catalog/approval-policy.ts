/** Whether a person has to approve the calls of a tool: the host's policy, on the safe side wherever it gives no clear no. */
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { ToolInQuestion, TroupeOptions } from '../options.js';
import type { Mask } from '../secrets.js';
import { rawKey } from './naming.js';

export interface ApprovalPolicyPorts {
  readonly publish: (event: LifecycleEventBody) => void;
  readonly mask: (server: string) => Mask;
}

/** What is wrong with the policy is told once for each tool. */
export function toApprovalPolicy(
  ask: TroupeOptions['requiresApproval'],
  { publish, mask }: ApprovalPolicyPorts,
): (tool: ToolInQuestion) => boolean {
  if (ask === undefined) return () => true;
  const told = new Set<string>();
  const tell = ({ server, tool }: ToolInQuestion, what: string): void => {
    const key = rawKey({ server, tool });
    if (told.has(key)) return;
    told.add(key);
    const name = mask(server)(tool);
    publish({
      type: 'diagnostic',
      kind: 'approval-policy-failed',
      connection: server,
      tool: name,
      message: `'requiresApproval' ${what} for '${name}' of '${server}', which counts as yes.`,
    });
  };
  return (tool) => {
    try {
      const answer: unknown = ask(tool);
      if (typeof answer === 'boolean') return answer;
      // A promise may fail, and nobody else waits for it.
      Promise.resolve(answer).catch(() => {});
      tell(tool, 'gave neither true nor false');
      return true;
    } catch (error) {
      const why = error instanceof Error ? mask(tool.server)(error.message) : 'no error';
      tell(tool, `threw (${why})`);
      return true;
    }
  };
}
