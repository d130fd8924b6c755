import { PassThrough } from 'node:stream';
import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { asking, canAsk } from '../../../../src/cli/prompts/ask.js';
import { explain } from '../../../../src/cli/output/failure-report.js';
import { renderCheck } from '../../../../src/cli/commands/check-command.js';
import { nameOf } from '../../../../src/cli/output/terminal.js';
import { renderQuestion, renderRequest } from '../../../../src/cli/output/trust-question.js';
import type { TrustRequest } from '../../../../src/trust/trust-request.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { makeStatus } from '../../../support/make-status.js';

const LAMP: TrustRequest = {
  server: 'lamp',
  source: '.mcp.json',
  folder: '/srv/project',
  transport: 'stdio',
  command: 'node',
  args: ['lamp.js', '--key=${KEY}', 'the hall', ''],
  cwd: '../elsewhere',
  variables: ['KEY', 'TOKEN'],
  env: { LD_PRELOAD: './a b.so', PASSWORD: null },
  asks: ['key', 'room'],
  inputs: { room: 'hall' },
  hash: 'a'.repeat(64),
};

const REMOTE: TrustRequest = {
  server: 'boats',
  source: '.mcp.json',
  folder: '/srv/project',
  transport: 'http',
  url: 'https://boats.example/mcp?key=***',
  headers: ['Authorization'],
  variables: ['TOKEN'],
  env: {},
  hash: 'b'.repeat(64),
};

/** Every character that a terminal would not show literally. */
const UNSEEN = /(?!\n)\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/u;

describe('the question whether a server may run', () => {
  it.each([
    ['\u0430', '\\u{430}', 'p\u0430ge'],
    ['\u2044', '\\u{2044}', 'a\u2044b'],
    ['\uff0f', '\\u{ff0f}', '\uff0fetc'],
    ['\u200b', '\\u{200b}', 'pa\u200bge'],
  ])('shows a character that looks like another by its number, wherever it is: %j', (char, shown, text) => {
    const fields: readonly Partial<TrustRequest>[] = [
      { args: [text] },
      { cwd: text },
      { env: { A: text } },
      { env: { [text]: 'a' } },
      { envFile: text },
      { command: text },
      { headersHelper: text },
      { proxy: text },
      { certificates: [text] },
      { signIn: [text] },
      { inputs: { a: text } },
      { contents: { [text]: 'a' } },
      { headers: [text] },
      { source: text },
      { folder: text },
    ];
    for (const field of fields) {
      const question = renderQuestion({ ...LAMP, ...field });
      expect(question).toContain(shown);
      expect(question).not.toContain(char);
    }
  });

  it('shows what a program leaves behind, and the port of a sign-in.', () => {
    expect(renderQuestion({ ...LAMP, keepDaemons: true })).toContain('keeps running in the background');
    expect(renderQuestion(LAMP)).not.toContain('keeps running in the background');
    expect(renderQuestion({ ...REMOTE, callbackPort: 4_711 })).toContain('4711');
  });

  it('shows everything that decides what runs.', () => {
    expect(renderQuestion(LAMP).split('\n')).toEqual([
      "'lamp' in .mcp.json, a file of the project in /srv/project, would run a program on this computer:",
      '    program: node',
      '    arguments: lamp.js --key=${KEY} "the hall" ""',
      '    in folder: ../elsewhere',
      '    reads of your variables: KEY, TOKEN',
      '    sets variables: LD_PRELOAD = "./a b.so", PASSWORD = (not shown, may be a secret)',
      '    asks you for: key, room',
      '    proposes the answers: ${input:room} = hall',
    ]);
  });

  it('shows the address of a remote server and what is sent there.', () => {
    expect(renderQuestion(REMOTE).split('\n')).toEqual([
      "'boats' in .mcp.json, a file of the project in /srv/project, would connect to a server:",
      '    address: https://boats.example/mcp?key=***',
      '    headers: Authorization',
      '    reads of your variables: TOKEN',
    ]);
  });

  it('says so if a program would get every variable.', () => {
    expect(renderRequest({ ...LAMP, variables: ['*', 'KEY'] })).toContain(
      'reads of your variables: all of them',
    );
  });

  it('cannot be manipulated by what it shows, and hides nothing.', () => {
    const evil = '\u001B[2J\u001B]0;x\u0007\u202Ea\u200Bb\u00A0c\u2028d\ne';
    const text = renderQuestion({
      ...LAMP,
      server: evil,
      source: evil,
      folder: evil,
      command: evil,
      args: [evil, '\\u{41}'],
      cwd: evil,
      variables: [evil],
      env: { [evil]: evil },
      inputs: { [evil]: evil },
    });
    expect(text).not.toMatch(UNSEEN);
    expect(text.split('\n')).toHaveLength(9);
    expect(text).toContain('\\u{1b}[2J');
    expect(text).toContain('a\\u{200b}b\\u{a0}c\\u{2028}d\\u{a}e');
    // Text that only looks like an escape is quoted, with its backslash doubled.
    expect(text).toContain('"\\\\u{41}"');
  });

  it('shows every argument and every value whole, up to the length of a path.', () => {
    const long = `-c${'.'.repeat(3_000)}rm -rf /${'.'.repeat(1_000)}`;
    const args = [long, ...Array.from({ length: 1_000 }, (_, index) => `a${index}`)];
    const lines = renderRequest({ ...LAMP, args, env: { NODE_OPTIONS: long } });
    for (const arg of args.slice(1)) expect(lines).toContain(`  ${arg}`);
    expect(lines).toContain(`  "${long}"`);
    expect(lines).toContain(`  NODE_OPTIONS = "${long}"`);
  });

  it('is cut if a text is too long, and says how much is hidden.', () => {
    const padded = `-c${' '.repeat(100_000)}rm -rf /`;
    const text = renderQuestion({ ...LAMP, args: [padded] });
    expect(text.length).toBeLessThan(6_000);
    expect(text).toContain(' …95914 characters… ');
    expect(text).toContain('rm -rf /"');
  });

  it('shows the file behind the command and the folder, as they were found on this machine.', () => {
    const found = { program: { file: '/opt/my node/node' }, folder: '/srv/elsewhere' };
    expect(renderRequest(LAMP, found)).toEqual(
      expect.arrayContaining(['program: node ("/opt/my node/node")', 'in folder: /srv/elsewhere']),
    );
  });

  it('tells an address of this computer or of a private network, and those of a sign-in.', () => {
    expect(renderRequest({ ...REMOTE, network: 'link-local' })).toContainEqual(
      expect.stringMatching(/^address: https:.* \(link-local/),
    );
    expect(renderRequest({ ...REMOTE, signIn: ['https://a.example/token'] })).toContain(
      'signs in at: https://a.example/token',
    );
  });

  it.each([
    ['a joiner', 'me\u200Dmory', 'me\\u{200d}mory'],
    ['a filler of Hangul', 'memory\u115F', 'memory\\u{115f}'],
    ['a blank of Braille', '\u2800memory', '\\u{2800}memory'],
    ['a selector of variants', 'memory\uFE0F', 'memory\\u{fe0f}'],
    ['a Cyrillic letter', 'm\u0435mory', 'm\\u{435}mory'],
    ['a Greek letter', 'mem\u03BFry', 'mem\\u{3bf}ry'],
    ['an Armenian letter', 'mem\u0585ry', 'mem\\u{585}ry'],
    ['Cyrillic letters alone', '\u0430\u0441\u0435', '\\u{430}\\u{441}\\u{435}'],
    ['full width', '\uFF4Demory', '\\u{ff4d}emory'],
    ['mathematical letters', '\u{1D426}emory', '\\u{1d426}emory'],
    ['a phonetic letter', 'search-\u0261', 'search-\\u{261}'],
    ['another hyphen', 'a\u2010b', 'a\\u{2010}b'],
  ])('shows what makes a name look like another: %s', (_, server, shown) => {
    expect(renderQuestion({ ...LAMP, server })).toContain(`'${shown}'`);
    expect(nameOf(server)).toBe(shown);
    const [row] = renderCheck(
      [makeStatus({ server, trustRequest: LAMP }, { configuring: 'awaitingTrust' })],
      picocolors.createColors(false),
    ).split('\n');
    expect(row).toContain(`${shown} `);
  });

  it.each(['memory', 'поиск', '地図-map', 'café', 'αρχείο', 'データ base', 'a_b.c-1'])(
    'leaves a name that is only in another language: %s',
    (server) => expect(nameOf(server)).toBe(server),
  );

  it('shows in full which program runs where, or which server is reached.', () => {
    const host = `good.example.${'a'.repeat(60)}.${'b'.repeat(60)}.evil.example`;
    const url = `https:${'/'.repeat(200)}${host}/${'c'.repeat(60)}.good.example/mcp`;
    const path = `/usr/bin/${'./'.repeat(90)}../../tmp/evil/${'./'.repeat(40)}node`;
    expect(renderRequest({ ...REMOTE, url })).toContain(`address: ${url}`);
    expect(renderRequest({ ...LAMP, inputs: { room: url } })).toContain(
      `proposes the answers: \${input:room} = ${url}`,
    );
    const program = { ...LAMP, command: path, cwd: path, folder: path };
    expect(renderRequest(program)).toEqual(
      expect.arrayContaining([`program: ${path}`, `in folder: ${path}`]),
    );
    expect(renderQuestion(program)).toContain(`a file of the project in ${path},`);
    const endless = renderQuestion({ ...program, command: path.repeat(1_000) });
    expect(endless.length).toBeLessThan(15_000);
  });

  it('is shown for a waiting server, with the way to answer it.', () => {
    const status = makeStatus({ server: 'lamp', trustRequest: LAMP }, { configuring: 'awaitingTrust' });
    expect(explain(status).slice(0, 2)).toEqual([
      'needs trust; to trust it: troupe trust lamp',
      'program: node',
    ]);
  });
});

describe('a question at a terminal', () => {
  useLeakCheck();

  function makeStdin() {
    return Object.assign(new PassThrough(), { isTTY: true });
  }

  it.each<[answer: string, isYes: boolean]>([
    ['y\n', true],
    ['Yes\r\n', true],
    ['  y \n', true],
    ['\n', false],
    ['n\n', false],
    ['yep\n', false],
    ['yes please\n', false],
  ])('interprets %j.', async (answer, isYes) => {
    const { terminal, stderr, stdout } = makeTerminal({ columns: 80, rows: 24 });
    const stdin = makeStdin();
    const asked = asking(terminal, stdin, ({ confirm }) => confirm('Really?'));
    stdin.write(answer);
    expect(await asked).toBe(isYes);
    expect([stderr.written, stdout.written]).toEqual(['Really? [y/N] ', '']);
    stdin.destroy();
  });

  it('is a no at the end of the input, as is every one after it.', async () => {
    const { terminal, stderr } = makeTerminal({ columns: 80, rows: 24 });
    const stdin = makeStdin();
    stdin.end();
    const answers = await asking(terminal, stdin, async ({ confirm }) => [
      await confirm('One?'),
      await confirm('Two?'),
    ]);
    expect(answers).toEqual([false, false]);
    expect(stderr.written).toBe('One? [y/N] \nTwo? [y/N] \n');
  });

  it('is not answered by input that was typed ahead for another one.', async () => {
    const { terminal } = makeTerminal({ columns: 80, rows: 24 });
    const stdin = makeStdin();
    const asked = asking(terminal, stdin, async ({ confirm }) => [
      await confirm('One?'),
      await confirm('Two?'),
    ]);
    stdin.write('n\ny\n');
    stdin.end();
    expect(await asked).toEqual([false, false]);
  });

  it('is only asked if a user can read and answer it.', () => {
    const size = { columns: 80, rows: 24 };
    expect(canAsk(makeTerminal(size).terminal, makeStdin())).toBe(true);
    expect(canAsk(makeTerminal().terminal, makeStdin())).toBe(false);
    expect(canAsk(makeTerminal(size).terminal, new PassThrough())).toBe(false);
  });
});
