/** Asks, one after the other, about the servers that wait for approval, before anything is started. */
import { createFileApprovalStore } from '../config/file-approval-store.js';
import type { Discovery } from '../discover.js';
import { asking, canAsk } from './ask.js';
import type { Terminal } from './terminal.js';
import { renderQuestion } from './trust-question.js';

/** Where nobody can be asked, nobody is: the servers wait, and say how to approve them. */
export async function askAboutWaiting(
  { servers }: Pick<Discovery, 'servers'>,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<void> {
  const requests = servers.flatMap(({ enabled, trustRequest }) => (enabled ? (trustRequest ?? []) : []));
  if (requests.length === 0 || !canAsk(terminal, stdin)) return;
  const store = createFileApprovalStore();
  await asking(terminal, stdin, async ({ confirm }) => {
    for (const request of requests) {
      terminal.note(renderQuestion(request));
      if (await confirm('Approve it?')) await store.approve(request);
    }
  });
}
