import { describe, expect, it } from 'vitest';
import { causeHint, outputOf, pickErrorLine } from '../../../src/failures/output.js';

describe('the hint from the output of a server', () => {
  it.each([
    ['an error on stderr', ['Error: no key'], ['Usage: kiln'], /stderr.*: Error: no key$/],
    [
      'an error on stdout rather than chatter on stderr',
      ['starting'],
      ['Error: no key', 'Usage: kiln'],
      /stdout.*: Error: no key$/,
    ],
    ['stdout if stderr is empty', [], ['Usage: kiln', '  --help'], /stdout.*: Usage: kiln$/],
    ['the last line of stderr otherwise', ['starting', 'no disk'], ['x'], /stderr.*: no disk$/],
  ])('quotes %s', (_, stderr, stdout, hint) => {
    expect(causeHint(stderr, stdout)).toMatch(hint);
  });

  it('is undefined if it wrote nothing', () => {
    expect(causeHint([], [''])).toBeUndefined();
    expect(outputOf([], [])).toEqual({});
  });
});

describe('the output in a failure', () => {
  it('has the first and the last lines', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const { stderrTail = [] } = outputOf(lines, []);
    expect(stderrTail).toHaveLength(20);
    expect(stderrTail.at(0)).toBe('line 0');
    expect(stderrTail.at(-1)).toBe('line 99');
    expect(stderrTail.filter((line) => !line.startsWith('line'))).toEqual(['… 81 more lines …']);
    expect(outputOf(lines.slice(0, 20), []).stderrTail).toEqual(lines.slice(0, 20));
  });
});

const FRAMES = `    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49`;

const LAST_WORDS: readonly (readonly [string, string, string | undefined])[] = [
  ['nothing', '', undefined],
  ['empty lines', '\n  \n', undefined],
  ['a line and empty ones', 'starting\nREGION is not set\n\n', 'REGION is not set'],
  [
    'a file that Node does not find',
    `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/nope.mjs'
${FRAMES} {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2`,
    "Error: Cannot find module '/srv/nope.mjs'",
  ],
  [
    'a required file that Node does not find',
    `Error: Cannot find module 'left-pad'\nRequire stack:\n- /srv/a.cjs\n${FRAMES}\n\nNode.js v22.1.0`,
    "Error: Cannot find module 'left-pad'",
  ],
  [
    'a fault of syntax',
    `file:///srv/a.mjs:1\nfoo bar\n    ^^^\n\nSyntaxError: Unexpected identifier 'bar'\n${FRAMES}\n\nNode.js v20.20.2`,
    "SyntaxError: Unexpected identifier 'bar'",
  ],
  [
    'an error that the server has caught and shown',
    `Error: retrying\n\nFatal error in main(): Error: API_KEY is not set\n${FRAMES}`,
    'Fatal error in main(): Error: API_KEY is not set',
  ],
  ['an error with a name of its own', `Boom: no\n${FRAMES}`, 'Boom: no'],
  [
    'a text that was thrown',
    "node:internal/process:1\n    throw 'no port'\n    ^\nno port\n(Use `node --trace-uncaught ...` to show where)\n\nNode.js v20.20.2",
    'no port',
  ],
  [
    'an object that was thrown',
    "file:///srv/a.mjs:1\nthrow settings;\n^\n\n{\n  message: 'API_KEY is not set',\n  code: 3\n}\n\nNode.js v20.20.2",
    "  message: 'API_KEY is not set',",
  ],
  [
    'a value that was shown with a word before it',
    "starting\nCould not start: {\n  status: 401,\n  headers: [\n    'a'\n  ]\n}",
    'Could not start: {',
  ],
  [
    'an error of Deno, which shows its source below',
    `error: Uncaught (in promise) Error: no port\n    throw new Error(why);\n          ^\n    at file:///srv/a.ts:1:7`,
    'error: Uncaught (in promise) Error: no port',
  ],
  [
    'an error of Bun, which shows its source above',
    `1 | const why = 'no port';\n2 | throw new Error(why);\n          ^\nerror: no port\n      at /srv/a.ts:2:7`,
    'error: no port',
  ],
  ['a stack and a word after it', `TypeError: x\n${FRAMES}\ngiving up`, 'TypeError: x'],
  [
    'an error and a usage below it',
    `Error: no account is configured; set KILN_TOKEN\nUsage:\n  kiln [flags]\n\nFlags:\n      --flag string   Something\n  -h, --help`,
    'Error: no account is configured; set KILN_TOKEN',
  ],
  [
    'a usage and an error below it',
    `Usage: kiln <command>\n\nCommands:\n  stdio\n\nerror: a command is required`,
    'error: a command is required',
  ],
  ['only a usage', `kiln 1.2.3\nusage: kiln <command>\n  --help  show this`, 'kiln 1.2.3'],
  [
    'a program under a launcher, which reports the failure once more',
    `{"level":"fatal","msg":"KILN_TOKEN must be set"}\nnode:internal/errors:1\n  const err = new Error(message);\n              ^\n\nError: Command failed: node kiln.mjs\n${FRAMES}\n\nNode.js v20.20.2`,
    '{"level":"fatal","msg":"KILN_TOKEN must be set"}',
  ],
  [
    'a program under npm, which reports the failure once more',
    `KILN_TOKEN is required\nnpm error Lifecycle script \`start\` failed with error:\nnpm error code 1\nnpm error path /srv`,
    'KILN_TOKEN is required',
  ],
  [
    'an error and advice below it',
    'ValueError: no key\nFor more details see https://kiln.example/docs\nSee the documentation.',
    'ValueError: no key',
  ],
  [
    'an error and what was done after it',
    '[error] - cannot bind port 80\nShutting down\nBye',
    '[error] - cannot bind port 80',
  ],
  ['a log without errors', '{"level":"info","error":"none"}\nINFO error: no\nstarting', 'starting'],
  [
    'numbered levels',
    '{"level":60,"msg":"no port"}\n{"level":30,"msg":"bye"}',
    '{"level":60,"msg":"no port"}',
  ],
  ['only the rest of a stack', FRAMES, '    at node:internal/main/run_main_module:28:49'],
  ['only the version of Node', 'Node.js v20.20.2', 'Node.js v20.20.2'],
  [
    'a package that npx does not find',
    `npm error code E404
npm error 404 Not Found - GET https://registry.example/no-such-server
npm error 404
npm error 404 tarball, folder, http url, or git url.
npm notice
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log`,
    'npm error 404 Not Found - GET https://registry.example/no-such-server',
  ],
  [
    'an old npm without a network',
    `npm ERR! code ENOTFOUND
npm ERR! syscall getaddrinfo
npm ERR! network request to https://registry.example failed
npm ERR! network This is a problem related to network connectivity.

npm ERR! A complete log of this run can be found in:
npm ERR!     /home/me/.npm/_logs/debug-0.log`,
    'npm ERR! network request to https://registry.example failed',
  ],
  [
    'an error of Python',
    `Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nModuleNotFoundError: No module named 'mcp'`,
    "ModuleNotFoundError: No module named 'mcp'",
  ],
];

describe('the telling line', () => {
  it.each(LAST_WORDS)('of %s', (_, stderr, line) => {
    expect(pickErrorLine(stderr.split('\n'))).toBe(line);
  });
});
