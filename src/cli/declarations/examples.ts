/** Examples for the help of each command and for the man page. */
import type { Command } from 'commander';

/** By command: command lines without `troupe`, each with what it does. */
export const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, meaning: string])[]>> = {
  up: [
    ['up', 'keep all servers connected'],
    ['up --record session.jsonl', 'and record what happens'],
    ['up --background', 'for quick calls: later commands use its connections'],
  ],
  down: [['down', "end the process of 'up --background'"]],
  logs: [
    ['logs fs', 'what a server wrote'],
    ['logs -f', 'and what it writes from now on'],
  ],
  serve: [
    ['serve', 'for a client that starts it'],
    ['serve --http 3000', 'for many clients'],
  ],
  check: [
    ['check', 'try all servers'],
    ['check github --attempts 3', 'try one, up to three times'],
  ],
  doctor: [['doctor', 'what is wrong, and what to do']],
  tools: [
    ['tools', 'all tools, with their arguments'],
    ['tools --search "create an issue"', 'the best matches'],
    ['tools fs --schema', 'the whole definitions of one server'],
  ],
  call: [
    ['call fs read_text_file path=README.md', 'arguments as pairs'],
    ['call fs/read_text_file \'{"path": "README.md"}\'', 'or as JSON'],
    ['call --add "fs=npx -y @modelcontextprotocol/server-filesystem ." fs list_directory path=.', 'no file'],
  ],
  resources: [['resources fs', 'resources of one server']],
  read: [
    ['read file:///README.md', 'print the text'],
    ['read demo://logo --output logo.png', 'write data to a file'],
  ],
  prompts: [['prompts', 'all prompts, with their arguments']],
  prompt: [['prompt git/commit_message style=short', 'print a prompt, filled in']],
  generate: [
    ['generate fs --out src/tools.ts', 'types of the tools of one server'],
    ['generate --check --out src/tools.ts', 'whether they still fit, for CI'],
    ['generate --cli fs --out fs.mjs', 'a command with a subcommand for each tool'],
  ],
  replay: [
    ['replay session.jsonl', 'what happened, and whether it happens again'],
    ['replay session.jsonl --timeline --server fs', 'every change of one server'],
    ['replay session.jsonl --follow', 'what happens, as it is recorded'],
    ['replay web-1.jsonl web-2.jsonl --timeline', 'two hosts on one timeline'],
  ],
  inspect: [
    ['inspect session.jsonl', 'a log in the browser, while it grows'],
    ['inspect web-1.jsonl web-2.jsonl', 'two hosts on one timeline'],
    ['inspect --fleet redis://redis.example.com', 'all hosts that run now'],
  ],
  report: [['report session.jsonl', 'one file for whoever looks into an incident']],
  config: [['config', 'each server, and the file that it comes from']],
  init: [['init', 'a .mcp.json for this project']],
  add: [
    ['add fs -- npx -y @modelcontextprotocol/server-filesystem .', 'a command'],
    [
      'add github https://api.githubcopilot.com/mcp --header "Authorization: Bearer ${GITHUB_TOKEN}"',
      'an address',
    ],
    ['add db "uvx mcp-server-postgres" --env DATABASE_URL --user', 'for all projects'],
  ],
  remove: [['remove fs', 'delete its entry']],
  enable: [['enable fs', 'start it again']],
  disable: [['disable fs', 'keep its entry, start nothing']],
  import: [['import --output servers.json', 'all servers in one file']],
  trust: [
    ['trust fs', 'after a question'],
    ['trust --list', 'what is trusted'],
  ],
  review: [['review --accept', 'accept changed tools, one by one']],
  login: [['login github', 'sign in, in the browser']],
  logout: [['logout github', 'delete the sign-in']],
  completion: [['completion bash', 'in ~/.bashrc: eval "$(troupe completion bash)"']],
  machine: [['machine connection --format mermaid', 'the chart of a connection']],
};

/** Adds the examples to the help of each command that has some. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const examples = EXAMPLES[command.name()] ?? [];
    if (examples.length === 0) continue;
    const lines = examples.map(([line, meaning]) => `  troupe ${line}\n      ${meaning}`);
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
}
