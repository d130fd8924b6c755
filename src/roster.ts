/**
 * Every configured server with its handle: joins the table of entries, the supervisor's actors and the sessions, and
 * tells what becomes of them. Keeps one fact the charts cannot: that an actor died of an error of ours.
 *
 * Longer than most because all that the handles ask of the troupe is answered here.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { AnyMachineSnapshot } from 'xstate';
import type { ConnectionCommand, ConnectionContext } from '../machines/connection.events.js';
import type { Failure } from '../machines/policy/failure.js';
import type { ChildSpec, ManagerInput } from '../machines/manager.machine.js';
import type { Dropped } from './actors/door.js';
import type { EffectPorts } from './actors/effect-ports.js';
import { forgetLists } from './actors/tell-list.js';
import type { CallPorts } from './calls/call.js';
import type { CallCheck } from './calls/call-check.js';
import { Connection, type ConnectionPorts } from './connection.js';
import { crashFailure } from './crash-failure.js';
import { tellDropped } from './dropped-event.js';
import type { ConnectionState } from './lifecycle/event.js';
import type { ConnectionRef } from './lifecycle/follow.js';
import { statePath } from './lifecycle/state-path.js';
import type { Publisher } from './lifecycle/publish.js';
import { toStatus, type ServerStatus, type StatusFacts } from './lifecycle/status.js';
import type { ServerRow, ServerTable } from './server-table.js';
import type { Session } from './sessions.js';
import { Supervisor, type SupervisorListener } from './supervisor.js';

const NO_TOOLS: readonly Tool[] = [];

export interface RosterParts {
  readonly table: ServerTable;
  readonly publisher: Publisher;
  readonly effects: EffectPorts;
  readonly manager: ManagerInput;
  /** Tools of a server that are shown. */
  readonly toolCount: (server: string) => number;
  /** Compares arguments and results with the schemas of the tool. */
  readonly check: CallCheck;
}

export class Roster implements SupervisorListener {
  #supervisor: Supervisor | undefined;
  readonly #handles = new Map<string, Connection>();
  readonly #crashes = new Map<string, Failure>();
  readonly #ports: ConnectionPorts;
  #isOpen = true;
  #lastCall = 0;

  constructor(private readonly parts: RosterParts) {
    this.#ports = this.#portsOfHandles();
  }

  /** Made when it is first asked for, with its charts: whoever wants tools of an earlier run need not wait for those. */
  get supervisor(): Supervisor {
    return (this.#supervisor ??= new Supervisor(this.parts.effects, this.parts.manager, this));
  }

  get connections(): Iterable<Connection> {
    return this.#handles.values();
  }

  get statuses(): readonly ServerStatus[] {
    return [...this.#handles.values()].map((handle) => handle.status);
  }

  /** That of the session in use, or of the last one; 0 before the first. */
  generation(name: string): number {
    return this.#context(name)?.generation ?? 0;
  }

  connection(name: string): Connection | undefined {
    return this.#handles.get(name);
  }

  /** Makes the handle of a configured server; starts nothing. */
  enroll(row: ServerRow): Connection {
    const { name } = row;
    this.parts.table.set(row);
    const handle = new Connection(name, this.#ports);
    this.#handles.set(name, handle);
    return handle;
  }

  /** Names of the servers that may be started. */
  get enabled(): readonly string[] {
    const { table } = this.parts;
    return table.names.filter((name) => table.isEnabled(name));
  }

  /** It is going to be started with the others. */
  isExpected(name: string): boolean {
    return !this.#hasStarted && this.parts.table.isEnabled(name);
  }

  /** Starts every enabled server for the first time. */
  startAll(): void {
    this.supervisor.start(this.enabled.map((name) => this.#childSpec(name, false)));
  }

  /** Starts one server that came later, or was enabled later. */
  startOne(name: string): void {
    if (this.parts.table.isEnabled(name)) this.supervisor.add(this.#childSpec(name, false));
  }

  /** Tells a connection the numbers of its entry, where those have changed. */
  retune(name: string): void {
    const ref = this.#ref(name);
    if (ref?.getSnapshot().status !== 'active') return;
    const policy = this.parts.table.policy(name);
    ref.send({ type: 'policy.changed', policy });
    this.#session(name)?.onretuned?.(policy);
  }

  /** Ends a connection and forgets it. */
  async remove(handle: Connection): Promise<void> {
    await handle.end('remove');
    this.dismiss(handle);
  }

  /** Forgets a connection that has ended; one that was forgotten before, or replaced, is left alone. */
  dismiss(handle: Connection): void {
    const { name } = handle;
    if (this.#handles.get(name) !== handle) return;
    const generation = this.generation(name);
    this.#handles.delete(name);
    this.#crashes.delete(name);
    this.#supervisor?.forget(name);
    forgetLists(this.parts.effects, { name, generation });
    this.parts.effects.wishes.forget(name);
    this.parts.table.delete(name);
    this.parts.publisher.publish({ type: 'connection.removed', connection: name, generation });
  }

  /** From here on nothing is started any more. */
  close(): void {
    this.#isOpen = false;
    this.supervisor.stop();
  }

  ended(name: string, reason: string, generation: number): void {
    forgetLists(this.parts.effects, { name, generation });
    this.parts.publisher.publish({ type: 'connection.stopped', connection: name, generation, reason });
  }

  crashed(name: string, message: string): void {
    const failure = crashFailure(message, this.parts.effects.clock.now());
    const snapshot = this.#ref(name)?.getSnapshot();
    const from = snapshot === undefined ? 'configuring' : statePath(snapshot.value).state;
    this.#crashes.set(name, failure);
    this.#publishState(name, from, 'failed', 'settled');
    this.parts.publisher.publish({
      type: 'connection.failed',
      connection: name,
      generation: this.generation(name),
      failure,
      attempt: snapshot?.context.attempt ?? 0,
      maxAttempts: snapshot?.context.policy.maxAttempts ?? 0,
    });
  }

  moved(): void {
    this.parts.publisher.wake();
  }

  failed(message: string): void {
    this.parts.publisher.publish({ type: 'manager.failed', message });
  }

  dropped(snapshot: AnyMachineSnapshot, dropped: Dropped): void {
    const { name } = snapshot.context as ConnectionContext;
    const allowed = (): readonly string[] => this.#handles.get(name)?.allowed ?? [];
    this.parts.publisher.publish(tellDropped(snapshot, dropped, allowed));
  }

  #portsOfHandles(): ConnectionPorts {
    const { table, publisher, effects, check } = this.parts;
    const calls: CallPorts = {
      clock: effects.clock,
      publish: effects.publish,
      mask: (server) => table.mask(server),
      nextCall: () => (this.#lastCall += 1),
      check,
    };
    return {
      publisher,
      calls,
      ref: (name) => this.#ref(name),
      session: (name) => this.#session(name),
      crash: (name) => this.#crashes.get(name),
      bury: (name, reason) => this.#bury(name, reason),
      status: (name) => this.#status(name),
      wishes: effects.wishes,
      callTimeoutMs: (name) => table.callTimeoutMs(name),
      maxConcurrentCalls: (name) => table.maxConcurrentCalls(name),
      retryCalls: (name) => table.retryCalls(name),
      tools: (name) => effects.catalogs.get(name)?.tools ?? NO_TOOLS,
      whyHeld: (name, tool) => effects.reviews?.whyHeld(name, tool),
      whyNoSpawn: (name) => this.#whyNoSpawn(name),
      spawn: (name) => this.#spawn(name),
      deliver: (name, command) => this.#deliver(name, command),
      finishAuth: (name, answer) => effects.signIns?.finish(name, answer),
    };
  }

  #whyNoSpawn(name: string): string | undefined {
    const { table } = this.parts;
    const failure = this.#supervisor?.failure;
    if (!this.#isOpen) return `'${name}' cannot be started: the troupe is closed.`;
    if (failure !== undefined) return `'${name}' cannot be started: the manager broke: ${failure}`;
    if (table.get(name) === undefined) return `'${name}' was removed.`;
    if (!table.isEnabled(name)) return `'${name}' is disabled by its entry ('enabled: false').`;
    if (!this.#hasStarted) return `'${name}' cannot be started before the troupe is.`;
    return undefined;
  }

  #spawn(name: string): void {
    this.#crashes.delete(name);
    this.supervisor.add(this.#childSpec(name, true));
  }

  /** The end of an actor that died, as if it had been stopped. */
  async #bury(name: string, reason: string): Promise<void> {
    const generation = this.generation(name);
    this.#crashes.delete(name);
    this.#publishState(name, 'failed', 'stopped', '');
    this.ended(name, reason, generation);
    await this.supervisor.release(name);
  }

  #publishState(name: string, from: ConnectionState, to: ConnectionState, substate: string): void {
    this.parts.publisher.publish({
      type: 'connection.state',
      connection: name,
      generation: this.generation(name),
      from,
      to,
      substate,
    });
  }

  #deliver(name: string, command: ConnectionCommand): void {
    if (command.type === 'trust.granted') this.parts.table.approve(name);
    this.supervisor.command(name, command);
  }

  get #hasStarted(): boolean {
    return this.#supervisor !== undefined && this.#supervisor.state !== 'idle';
  }

  #ref(name: string): ConnectionRef | undefined {
    return this.#supervisor?.ref(name);
  }

  #context(name: string): ConnectionContext | undefined {
    return this.#ref(name)?.getSnapshot().context;
  }

  /** The next one goes on from the last generation that was given out. */
  #childSpec(name: string, wanted: boolean): ChildSpec {
    const { table, effects } = this.parts;
    const generation = this.#context(name)?.issued ?? 0;
    return table.childSpec(name, { generation, wanted, cached: effects.catalogs.get(name) !== undefined });
  }

  /** The session in use; another one may be prepared, or may end, beside it. */
  #session(name: string): Session | undefined {
    return this.parts.effects.sessions.get({ name, generation: this.generation(name) });
  }

  #status(name: string): ServerStatus {
    const { table, effects } = this.parts;
    const snapshot = this.#ref(name)?.getSnapshot();
    const path = this.#handles.get(name)?.path ?? { state: 'stopped', substate: '' };
    const { state } = path;
    const facts: StatusFacts = {
      name,
      source: table.get(name)?.source ?? '',
      transport: table.transport(name),
      generation: this.generation(name),
      maxAttempts: snapshot?.context.policy.maxAttempts ?? 0,
      toolCount: this.parts.toolCount(name),
      extras: effects.extras.counts(name),
      reason: this.#reason(name, state),
      stderrTail: this.#session(name)?.transport?.stderrTail() ?? [],
      trustRequest: path.substate === 'awaitingTrust' ? (table.trustRequest(name) ?? null) : null,
      authUrl: path.substate === 'authorizing' ? (effects.signIns?.url(name) ?? null) : null,
      crash: this.#crashes.get(name) ?? null,
    };
    const canTell = snapshot?.status === 'active' || snapshot?.status === 'done';
    return toStatus(facts, path, canTell ? snapshot.context : undefined);
  }

  #reason(name: string, state: string): string | null {
    if (state !== 'stopped') return null;
    if (!this.parts.table.isEnabled(name)) return 'disabled';
    return this.#context(name)?.intent ?? null;
  }
}
