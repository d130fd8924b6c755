/**
 * The servers of a run: their names, their entries, and the methods that make them misbehave.
 *
 * T1. Every method may be called at any time and in any order; `heal` undoes all effects.
 * T2. After `close`, nothing of the servers is left that Troupe did not start.
 */
import { existsSync, rmSync, writeFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../faults/processes.mjs';
import { HttpHost } from './http-host.mjs';
import { InProcessServer } from './servers/in-process-server.mjs';
import { WELL } from './servers/serve.mjs';

const STDIO_SERVER = fileURLToPath(new URL('servers/stdio-server.mjs', import.meta.url));
/** One in this number of stdio servers has a child process, which must end with it. */
const WITH_CHILD = 5;

/** The names of `count` servers by kind: 30 % stdio, 35 % HTTP, the rest in-process, at least one of each. */
export function namesOf(count) {
  const names = (kind, size) => Array.from({ length: size }, (_, index) => `${kind}-${index}`);
  const stdio = Math.max(1, Math.round(count * 0.3));
  const http = Math.max(1, Math.round(count * 0.35));
  return {
    stdio: names('stdio', stdio),
    http: names('http', http),
    memory: names('memory', Math.max(1, count - stdio - http)),
  };
}

export class Fleet {
  journal;
  names;
  #folder;
  #host;
  #memory;
  /** Name → number of changes of its entry. */
  #edits = new Map();
  #removed = new Set();
  #leftOut = new Set();
  #frozen = new Set();

  static async open(count, folder) {
    const fleet = new Fleet(count, folder);
    await fleet.#host.start();
    return fleet;
  }

  constructor(count, folder) {
    this.names = namesOf(count);
    this.journal = join(folder, 'journal.jsonl');
    this.#folder = folder;
    this.#host = new HttpHost(this.journal, this.names.http);
    this.#memory = new Map(this.names.memory.map((name) => [name, new InProcessServer(this.journal)]));
  }

  get allNames() {
    return Object.values(this.names).flat();
  }

  /** The current entries, for `createTroupe` and `reload`. */
  get entries() {
    const wanted = this.allNames.filter((name) => !this.#removed.has(name) && !this.#leftOut.has(name));
    return Object.fromEntries(wanted.map((name) => [name, this.entry(name)]));
  }

  entry(name) {
    const edit = String(this.#edits.get(name) ?? 0);
    const server = this.#memory.get(name);
    if (server !== undefined) return { type: 'in-process', server, callTimeoutMs: 10_000 + Number(edit) };
    const url = this.#host.url(name);
    if (url !== undefined) return { type: 'http', url, headers: { 'x-edit': edit } };
    const index = this.names.stdio.indexOf(name);
    const flags = index % WITH_CHILD === 0 ? ['--with-child'] : [];
    const args = [STDIO_SERVER, this.#folder, name, ...flags];
    return { command: process.execPath, args, env: { CHAOS_EDIT: edit } };
  }

  /** Changes the entry. */
  edit(name) {
    this.#edits.set(name, (this.#edits.get(name) ?? 0) + 1);
  }

  /** Adds or removes the server. */
  want(name, isWanted) {
    if (isWanted) this.#removed.delete(name);
    else this.#removed.add(name);
  }

  /** Leaves these servers out of the entries until the next call. */
  leaveOut(names) {
    this.#leftOut = new Set(names);
  }

  async setMood(name, mood) {
    const server = this.#memory.get(name);
    if (server !== undefined) server.mood = mood;
    else if (this.#host.url(name) !== undefined) await this.#host.order(name, 'mood', { mood });
    else this.#writeMood(name, mood);
  }

  /** Ends every session or connection of a server without its own process. */
  async cut(name) {
    const server = this.#memory.get(name);
    if (server === undefined) await this.#host.order(name, 'cut');
    else server.cut();
  }

  async forgetSessions(name) {
    await this.#host.order(name, 'forget');
  }

  /** Starts or stops listening at the address of an HTTP server. */
  async listen(name, isListening) {
    await this.#host.order(name, isListening ? 'accept' : 'refuse');
  }

  sendListChanged(name) {
    this.#memory.get(name).sendListChanged();
  }

  killHost() {
    return this.#host.kill();
  }

  startHost() {
    return this.#host.start();
  }

  get hostPid() {
    return this.#host.pid;
  }

  /** Suspends a process until `thaw`. */
  freeze(pid) {
    if (signal(pid, 'SIGSTOP')) this.#frozen.add(pid);
  }

  thaw(pid) {
    if (this.#frozen.delete(pid)) signal(pid, 'SIGCONT');
  }

  /** Makes every server work, reachable and present again. */
  async heal() {
    for (const pid of this.#frozen) this.thaw(pid);
    this.#removed.clear();
    this.#leftOut.clear();
    await this.#host.start();
    await Promise.all(this.allNames.map((name) => this.setMood(name, WELL)));
    await Promise.all(this.names.http.map((name) => this.listen(name, true)));
  }

  /** Faults of the servers themselves, as sentences. */
  get faults() {
    const { deaths } = this.#host;
    const open = [...this.#memory.values()].reduce((sum, { sessions }) => sum + sessions, 0);
    return [
      ...(deaths > 0 ? [`the process of the HTTP servers ended ${deaths} times by itself`] : []),
      ...(open > 0 ? [`${open} in-process sessions were never closed`] : []),
    ];
  }

  async close() {
    for (const pid of this.#frozen) this.thaw(pid);
    for (const server of this.#memory.values()) server.end();
    await this.#host.kill();
  }

  /** Writes atomically, so that no server reads a partial file. */
  #writeMood(name, mood) {
    const file = join(this.#folder, `${name}.mood`);
    if (mood.name === WELL.name) {
      if (existsSync(file)) rmSync(file);
      return;
    }
    writeFileSync(`${file}.new`, JSON.stringify(mood));
    renameSync(`${file}.new`, file);
  }
}

/** Returns whether the signal was sent; it is not an error if the process has ended. */
export function signal(pid, name) {
  if (pid === null || !isAlive(pid)) return false;
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
