/**
 * Writes docs/images/recording.svg: `troupe up` in a terminal, while a server is killed and comes back.
 *
 *     npm run recording
 *
 * The run is real, and so are its times, except that the failure is shown longer than it lasted: a server is often back
 * before anybody can read why it was lost. Needs the built package, and a system that knows SIGKILL.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { terminalSvg } from './terminal-svg.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');
const VICTIM = 'filesystem';
const SIZE = { cols: 72, rows: 9 };
const PROMPT = '$ ';
const COMMAND = ['troupe', 'up', '--config', 'servers.json'];
const OTHER = 'another terminal';
const DESCRIPTION =
  'A terminal with a table of three servers and the keys that command them. All become ready. In another terminal, the process ' +
  'of one is killed. Its row shows the failure, and then that it is ready again, with another process and one restart. ' +
  'Ctrl-C stops all servers.';
/** Without output for so long, the screen is complete, milliseconds. */
const QUIET_MS = 40;
/** How long a reader gets to see what is there, milliseconds. */
const LOOK_MS = 2_500;
/** How long a reader gets at least for each step of the return, milliseconds. */
const STEP_MS = 1_200;
/** Between the command that kills and its effect, milliseconds. */
const TYPED_MS = 1_000;
/** Longest to wait for what is to happen, milliseconds. */
const LIMIT_MS = 60_000;
const COLORS = { 1: 'red', 2: 'green', 3: 'yellow' };

class Recorder {
  /** @type {import('./terminal-svg.mjs').Frame[]} */
  frames = [];
  /** What stands in the other terminal, after its prompt. */
  typed = '';
  #screen = new xterm.Terminal({ ...SIZE, allowProposedApi: true });
  #startedAt = performance.now();
  #quiet;

  write(text) {
    this.#screen.write(text, () => {
      clearTimeout(this.#quiet);
      this.#quiet = setTimeout(() => this.take(), QUIET_MS);
    });
  }

  /** Takes down what is on the screen now. */
  take() {
    const lines = Array.from({ length: SIZE.rows }, (_, row) =>
      runsOf(this.#screen.buffer.active.getLine(row)),
    );
    const other = [
      [{ column: 0, text: '─'.repeat(SIZE.cols), look: 'dim' }],
      [
        { column: 0, text: (PROMPT + this.typed).trimEnd(), look: '' },
        { column: SIZE.cols - OTHER.length, text: OTHER, look: 'dim' },
      ],
    ];
    this.frames.push({ at: Math.round(performance.now() - this.#startedAt), rows: [...lines, ...other] });
  }

  /** Resolves when that was on the screen, in the frame that shows it or a later one; rejects after a time. */
  async until(text) {
    for (const end = Date.now() + LIMIT_MS; Date.now() < end; await sleep(QUIET_MS))
      if (this.text().includes(text)) return;
    throw new Error(`'${text}' was not shown:\n${this.text()}`);
  }

  text() {
    const { active } = this.#screen.buffer;
    return Array.from({ length: SIZE.rows }, (_, row) => active.getLine(row).translateToString(true)).join(
      '\n',
    );
  }
}

/** Texts of one look, without the gaps between columns. */
function runsOf(line) {
  const runs = [];
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    const text = cell.getChars() || ' ';
    const look = lookOf(cell);
    const last = runs.at(-1);
    if (last?.look === look) last.text += text;
    else runs.push({ column, text, look });
  }
  return runs.flatMap(({ column, text, look }) =>
    [...text.matchAll(/\S+(?: \S+)*/g)].map((part) => ({ column: column + part.index, text: part[0], look })),
  );
}

function lookOf(cell) {
  const color = cell.isFgPalette() ? COLORS[cell.getFgColor()] : undefined;
  return [color, cell.isDim() ? 'dim' : undefined, cell.isBold() ? 'bold' : undefined]
    .filter((name) => name !== undefined)
    .join(' ');
}

function servers(folder) {
  const server = (name, args = []) => ({
    command: process.execPath,
    args: [join(ROOT, 'node_modules/@modelcontextprotocol', `server-${name}`, 'dist/index.js'), ...args],
  });
  return {
    everything: server('everything'),
    filesystem: server('filesystem', [folder]),
    memory: { ...server('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } },
  };
}

/** Runs it all; tells which frame shows the servers after the return of the one that was killed. */
async function record(recorder, folder) {
  await writeFile(join(folder, 'servers.json'), JSON.stringify({ mcpServers: servers(folder) }));
  recorder.write(`${PROMPT}${COMMAND.join(' ')}\r\n`);
  const [, ...args] = COMMAND;
  const troupe = spawn(process.execPath, [join(ROOT, 'dist/bundle/src/cli/main.js'), ...args], {
    ...SIZE,
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color', FORCE_COLOR: '1' },
  });
  const ended = new Promise((resolve) => void troupe.onExit(resolve));
  troupe.onData((data) => recorder.write(data));
  try {
    await recorder.until('3 of 3 ready');
    await sleep(LOOK_MS);
    const [, pid] = new RegExp(`${VICTIM} .* stdio +(\\d+)`).exec(recorder.text());
    recorder.typed = `kill -9 ${pid}`;
    recorder.take();
    await sleep(TYPED_MS);
    process.kill(Number(pid), 'SIGKILL');
    await recorder.until('2 of 3 ready');
    await recorder.until('3 of 3 ready');
    await sleep(LOOK_MS);
    const still = recorder.frames.length - 1;
    troupe.write('\u0003');
    await ended;
    recorder.write(PROMPT);
    await sleep(QUIET_MS * 2);
    return still;
  } finally {
    troupe.kill('SIGKILL');
  }
}

/** With more time for every frame that tells of a failure. */
function readable(frames) {
  let added = 0;
  return frames.map((frame, index) => {
    const at = frame.at + added;
    const lasts = (frames[index + 1]?.at ?? Infinity) - frame.at;
    const isFailure = JSON.stringify(frame.rows).includes('process-exited');
    if (isFailure) added += Math.max(0, STEP_MS - lasts);
    return { ...frame, at };
  });
}

const recorder = new Recorder();
const folder = await mkdtemp(join(tmpdir(), 'troupe-recording-'));
try {
  const still = await record(recorder, folder);
  const frames = readable(recorder.frames);
  const picture = terminalSvg({
    title: 'troupe up: a server is killed and comes back',
    description: DESCRIPTION,
    columns: SIZE.cols,
    frames,
    still,
    durationMs: frames.at(-1).at - frames[0].at + LOOK_MS,
  });
  await mkdir(IMAGES, { recursive: true });
  await writeFile(join(IMAGES, 'recording.svg'), picture);
} finally {
  await rm(folder, { recursive: true, force: true });
}
