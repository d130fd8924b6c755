import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { useTeam } from '../../support/team.js';
import { TroupeProcess } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const DEMO = fileURLToPath(new URL('../../../docs/examples/demo.mjs', import.meta.url));

describe('the demo', () => {
  it('has six ready servers, reports why the seventh failed, and leaves nothing behind.', async () => {
    const { folder } = team();
    const demo = TroupeProcess.startScript(DEMO, ['--json'], { cwd: folder, env: { TMPDIR: folder } });
    const names = [
      'business-data',
      'everything',
      'everything-http',
      'filesystem',
      'memory',
      'sequential-thinking',
    ];
    for (const name of names) {
      await demo.saw(new RegExp(`"type":"connection.ready","server":"${name}"`));
    }
    await demo.saw(/"type":"connection.failed","server":"no-such-server".*"command-not-found"/);
    demo.signal('SIGINT');
    expect(await demo.finished()).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(folder)).toEqual([]);
  });
});
