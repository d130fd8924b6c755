/** A host of the fleet in a process of its own. */
import { fork } from 'node:child_process';

export class HostProcess {
  #child;
  /** Resolves with the exit code: null after a signal. */
  ended;

  constructor(program, args) {
    this.#child = fork(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child.on('message', (message) => this.heard(message));
    this.ended = new Promise((resolve) => this.#child.once('exit', resolve));
  }

  /** A message of the host. */
  heard(_message) {}

  signal(name) {
    this.#child.kill(name);
  }

  /** Does nothing if the host has ended. */
  say(message) {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Ends it at once, also if it is frozen. */
  async end() {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}
