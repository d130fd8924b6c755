/**
 * Whether a person must confirm the calls of a tool: the answer of the host's policy. Anything but `false` means yes; null
 * without a policy.
 */
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { TroupeOptions } from '../options.js';
import type { ToolInfo } from '../catalog/registry.js';
import type { Mask } from '../secrets/secrets.js';
import { rawKey } from '../catalog/naming.js';

export interface ConfirmationPolicyPorts {
  readonly publish: (event: LifecycleEventBody) => void;
  readonly mask: (server: string) => Mask;
}

/** Each problem of the policy is reported once for each tool. */
export function toConfirmationPolicy(
  ask: TroupeOptions['requiresConfirmation'],
  { publish, mask }: ConfirmationPolicyPorts,
): (tool: ToolInfo) => boolean | null {
  if (ask === undefined) return () => null;
  const reported = new Set<string>();
  const report = ({ server, tool }: ToolInfo, what: string): void => {
    const key = rawKey({ server, tool });
    if (reported.has(key)) return;
    reported.add(key);
    const name = mask(server)(tool);
    publish({
      type: 'diagnostic',
      kind: 'confirmation-policy-failed',
      server,
      tool: name,
      message: `'requiresConfirmation' ${what} for '${name}' of '${server}', which counts as yes.`,
    });
  };
  return (tool) => {
    try {
      const answer: unknown = ask(tool);
      if (typeof answer === 'boolean') return answer;
      // The answer may be a promise that rejects, and nothing else handles that.
      Promise.resolve(answer).catch(() => {});
      report(tool, 'returned neither true nor false');
      return true;
    } catch (error) {
      const why = error instanceof Error ? mask(tool.server)(error.message) : 'no error';
      report(tool, `threw (${why})`);
      return true;
    }
  };
}
