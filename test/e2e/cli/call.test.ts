import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { CRASHING, EVERYTHING, faulty, filesIn, useTeam } from '../../support/team.js';
import { runTroupe, TroupeProcess } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const everything = (): string => team().write('everything.json', { everything: EVERYTHING });

describe('troupe call', () => {
  it.each([
    ['by the name for the model, with JSON', ['mcp__everything__get-sum', '{"a": 1, "b": 2}'], ''],
    ['by server and tool with a dot', ['everything.get-sum', 'a=1', 'b=2'], ''],
    ['by server and tool as two words', ['everything', 'get-sum', 'a=1', 'b=2'], ''],
    ['by server and tool, with pairs', ['everything/get-sum', 'a=1', 'b=2'], ''],
    ['with JSON from stdin', ['everything/get-sum', '-'], '{"a": 1, "b": 2}'],
  ])('calls a tool %s.', async (_, words, stdin) => {
    const { code, stdout, stderr } = await runTroupe(['call', ...words, '--config', everything()], { stdin });
    expect([code, stdout, stderr]).toEqual([0, 'The sum of 1 and 2 is 3.\n', '']);
  });

  it('sends a number as a string if the tool expects a string.', async () => {
    const { stdout } = await runTroupe(['call', 'everything/echo', 'message=12', '--config', everything()]);
    expect(stdout).toBe('Echo: 12\n');
  });

  it('prints the unchanged result as JSON.', async () => {
    const args = ['call', 'everything/echo', 'message=hello', '--json', '--config', everything()];
    const { code, stdout, stderr } = await runTroupe(args);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ content: [{ type: 'text', text: 'Echo: hello' }] });
  });

  it('quotes what the server wrote before it was lost with the call.', async () => {
    const config = team().write('dying.json', { dying: faulty('dies-in-a-call') });
    const { code, stderr } = await runTroupe([
      'call',
      'dying/lamp_set',
      'lamp=porch',
      'on=true',
      '--config',
      config,
    ]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/unknown whether .* short circuit\n$/)]);
  });

  it('starts only the server that can have the tool.', async () => {
    const journal = join(team().folder, 'journal');
    const config = team().write('one.json', {
      everything: EVERYTHING,
      other: faulty('plain', `--journal=${journal}`),
      wrong: { command: 7 },
    });
    const { code, stderr } = await runTroupe(['call', 'everything/echo', 'message=x', '--config', config]);
    expect([code, stderr]).toEqual([0, '']);
    expect(() => readFileSync(journal)).toThrow('ENOENT');
  });

  it('fails with the text of the tool if the tool returns an error.', async () => {
    const config = team().write('files.json', { files: filesIn(team().folder) });
    const args = ['call', 'files/read_text_file', 'path=/no/such/file', '--config', config];
    const { code, stdout, stderr } = await runTroupe(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^Access denied/);
    const json = await runTroupe([...args, '--json']);
    expect([json.code, json.stderr]).toEqual([1, '']);
    expect(JSON.parse(json.stdout)).toMatchObject({ isError: true });
  });

  it('fails with the cause if the server does not start.', async () => {
    const config = team().write('crashing.json', { crashing: CRASHING });
    const { code, stdout, stderr } = await runTroupe(['call', 'crashing/read', '--config', config]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^✗ crashing {2}process-exited: The server exited with code 3\.\n {4}hint: /);
  });

  it('suggests a similar tool for an unknown name.', async () => {
    const { code, stdout, stderr } = await runTroupe(['call', 'everything/ehco', '--config', everything()]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      "troupe: no tool of everything is called 'everything/ehco'; did you mean 'everything/echo'?\nSee 'troupe call --help'.\n",
    );
  });

  it('times out if there is no answer within the limit.', async () => {
    const config = team().write('slow.json', { everything: EVERYTHING });
    const words = ['everything/trigger-long-running-operation', 'duration=30', 'steps=1'];
    const { code, stderr } = await runTroupe(['call', ...words, '--timeout', '3000', '--config', config]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^troupe: .* timed out: no answer within the 3000 ms of the whole call/);
  });

  it('is cancelled by Ctrl-C, also at the server.', async () => {
    const journal = join(team().folder, 'cancelled');
    const config = team().write('cancel.json', {
      slow: faulty('stops-when-cancelled', `--journal=${journal}`),
    });
    const heard = (): string => (existsSync(journal) ? readFileSync(journal, 'utf8') : '');
    const call = TroupeProcess.start(['call', 'slow/lamp_status', '--config', config]);
    await expect.poll(heard).toContain('"method":"tools/call"');
    call.signal('SIGINT');
    expect(await call.finished()).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: 'troupe: interrupted\n',
    });
    expect(heard()).toContain('"ev":"cancelled","known":true');
  });
});
