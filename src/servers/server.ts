/**
 * One server of a troupe: its present entry, its secrets, its actor and its handle. It outlives the incarnations of the
 * actor and every reload of the configuration, until it is removed.
 *
 * Keeps no lifecycle state: the actor's chart does. Longer than 300 lines because it joins the entry, the
 * secrets, the actor and the handle of a server; its methods are short.
 */
import type { Tool } from '../mcp/server-offers.js';
import type {
  ConnectionCommand,
  ConnectionContext,
  StopReason,
} from '../../machines/connection/connection.events.js';
import type { ChildSpec } from '../../machines/manager/manager.events.js';
import { attemptLimit } from '../../machines/connection/connection.update.js';
import type { Failure } from '../../machines/policy/failure.js';
import { hashSeed } from '../../machines/policy/seeded-random.js';
import { hasTag, type PublicState } from '../../machines/connection/connection.states.js';
import { publicState } from '../../machines/connection/public-state.js';
import type { EffectPorts, Resolution } from '../actors/effect-ports.js';
import { forgetLists } from '../actors/report-list.js';
import type { CallPorts } from '../calls/call.js';
import { isAllowed } from '../config/entry/tool-filter.js';
import type { ChangedServer } from '../config/diff.js';
import type { ServerRow } from '../config/entry/server-spec.js';
import { Connection } from './connection.js';
import { KnownSecrets } from '../secrets/known-secrets.js';
import { follow, type ConnectionRef, detailsOf } from '../lifecycle/follow.js';
import { printable } from '../config/entry/problem.js';
import type { Publisher } from '../lifecycle/publish.js';
import {
  type LeftOutTool,
  type ServerStatus,
  toStatus,
  type StatusFacts,
  type StoppedReason,
} from '../lifecycle/status.js';
import type { Lifetime } from '../lifecycle/lifetime.js';
import { maskShown } from '../secrets/secret-text.js';
import { NO_MASK, type Mask } from '../secrets/secrets.js';
import { ServerEntry, type EntryTerms } from './server-entry.js';
import type { Session } from '../sessions/sessions.js';
import type { Supervised } from '../supervision/supervisor.js';
import { NO_DETAILS } from '../lifecycle/status-details.js';

/** What applies to every server of a troupe. */
export interface ServerTerms extends EntryTerms {
  readonly seed: number;
  /** Masks the tokens that are in use for a server. */
  readonly tokenMask: (name: string) => Mask;
  /** The mask of the host. */
  readonly redact: Mask;
}

/** What the servers of a troupe share. */
export interface Runtime {
  readonly publisher: Publisher;
  readonly lifetime: Lifetime;
  readonly effects: EffectPorts;
  readonly calls: CallPorts;
  /** Tools of a server that are shown. */
  readonly toolCount: (server: string) => number;
  readonly toolsLeftOut: (server: string) => readonly LeftOutTool[];
  /** Makes the manager spawn an actor. Throws an `InvalidTransitionError` if its phase does not allow that. */
  readonly spawn: (spec: ChildSpec) => void;
}

const NO_TOOLS: readonly Tool[] = [];

export class Server implements Supervised {
  readonly name: string;
  readonly connection: Connection;
  #entry: ServerEntry;
  /** Undefined until a secret was read. */
  #secrets: KnownSecrets | undefined;
  #ref: ConnectionRef | undefined;
  #isRemoved = false;
  /** The ignored variables that were reported last. */
  #ignored = '';

  constructor(
    row: ServerRow,
    private readonly terms: ServerTerms,
    readonly runtime: Runtime,
  ) {
    this.name = row.name;
    this.#entry = new ServerEntry(row, terms);
    this.connection = new Connection(this);
  }

  get entry(): ServerEntry {
    return this.#entry;
  }

  /** The latest incarnation of the actor, even if it has ended; undefined before the first. */
  get ref(): ConnectionRef | undefined {
    return this.#ref;
  }

  get context(): ConnectionContext | undefined {
    return this.#ref?.getSnapshot().context;
  }

  /** The present state, read from the chart. */
  get present(): PublicState {
    const snapshot = this.#ref?.getSnapshot();
    const isOver = snapshot === undefined || snapshot.status === 'error' || snapshot.status === 'stopped';
    return publicState(isOver ? 'stopped' : snapshot.value);
  }

  /** Number of the session in use, or of the last one; 0 before the first. */
  get generation(): number {
    return this.context?.generation ?? 0;
  }

  /** The session in use; a successor may be opening, or a former one ending, beside it. */
  get session(): Session | undefined {
    const { name, generation } = this;
    return this.runtime.effects.sessions.get({ name, generation });
  }

  /** The tools that the server listed last. */
  get tools(): readonly Tool[] {
    return this.runtime.effects.catalogs.get(this.name)?.tools ?? NO_TOOLS;
  }

  get status(): ServerStatus {
    return statusOf(this);
  }

  /** Whether it was removed from the troupe. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /**
   * Masks the tokens in use, all secrets of the entry that were read so far, tokens with a form of their own, and what the
   * host masks itself.
   */
  get mask(): Mask {
    const known = this.#withTokens(this.#secrets?.mask);
    return (text) => this.terms.redact(maskShown(known(text)));
  }

  /** The same, except for short values: a word like `info` is part of many definitions anyway. */
  get echoMask(): Mask {
    return this.#withTokens(this.#secrets?.likelyMask);
  }

  /** Why the server is stopped and its actor cannot have another incarnation, as a sentence; undefined if it can. */
  get whyNoSpawn(): string | undefined {
    const { name } = this;
    const { failure, isClosed, hasStarted } = this.runtime.lifetime;
    if (isClosed) return `'${name}' has ended: the troupe is closed.`;
    if (failure !== undefined) return `'${name}' has ended: the manager crashed: ${failure}`;
    if (this.#isRemoved) return `'${name}' was removed.`;
    if (!this.#entry.settings.enabled) return `'${name}' is disabled by its entry ('enabled: false').`;
    if (!hasStarted) return `'${name}' is not running: the troupe has not started.`;
    return undefined;
  }

  /** What the manager needs for the next incarnation, which continues from the last issued generation. */
  childSpec(wanted: boolean): ChildSpec {
    const { name } = this;
    const { row, transport, settings } = this.#entry;
    const seed = hashSeed(this.terms.seed, name);
    const generation = this.context?.issued ?? 0;
    const { policy } = settings;
    return { source: row.source, input: { name, transport, policy, seed, generation, wanted } };
  }

  /** Spawns the next incarnation of the actor. */
  spawn(wanted: boolean): void {
    this.runtime.spawn(this.childSpec(wanted));
  }

  /** Spawns the first incarnation, if the entry is enabled. */
  start(): void {
    if (this.#entry.settings.enabled) this.spawn(false);
  }

  /** Sends the actor a command that it accepts. */
  deliver(command: ConnectionCommand): void {
    if (command.type === 'trust.granted') this.#entry.trust();
    this.#ref?.send(command);
  }

  async resolve(): Promise<Resolution> {
    const { resolution, secrets, ignored } = await this.#entry.resolve();
    this.remember(secrets);
    this.#reportIgnored(ignored);
    return resolution;
  }

  /** Once for each list of names. */
  #reportIgnored(names: readonly string[]): void {
    const list = names.map((each) => printable(each)).join(', ');
    if (list === '' || list === this.#ignored) return;
    this.#ignored = list;
    const { name, generation } = this;
    const message = `The 'envFile' is part of the project, so these of its variables, which decide what runs, are ignored: ${list}. Set them in 'env' of the entry.`;
    this.runtime.publisher.publish({
      type: 'diagnostic',
      server: name,
      generation,
      kind: 'config-problem',
      problem: 'ignored-variables',
      message,
    });
  }

  remember(secrets: readonly string[]): void {
    if (secrets.length > 0) (this.#secrets ??= new KnownSecrets()).remember(secrets);
  }

  /** Replaces the entry. Its filter and its limit of concurrent calls apply at once; nothing is started. */
  replace(row: ServerRow): void {
    const before = this.#shownTools();
    this.#entry = new ServerEntry(row, this.terms);
    this.connection.admitCalls();
    const after = this.#shownTools();
    const added = after.filter((tool) => !before.includes(tool));
    const removed = before.filter((tool) => !after.includes(tool));
    if (added.length + removed.length === 0) return;
    const { name, generation, mask } = this;
    this.runtime.publisher.publish({
      type: 'catalog.changed',
      server: name,
      generation,
      added: added.map(mask),
      removed: removed.map(mask),
      changed: [],
      toolCount: after.length,
    });
  }

  /** Switches to a changed entry. If that disables the server, it resolves when the connection has stopped. */
  async adopt({ after, needsSession }: ChangedServer): Promise<void> {
    const wasEnabled = this.#entry.settings.enabled;
    this.replace(after);
    if (!this.#entry.settings.enabled) await this.connection.end('stop');
    else if (!wasEnabled) this.start();
    else if (needsSession || this.#hasNoSession()) this.#renew();
    else this.#updatePolicy();
  }

  /** Tries again if the connection waits for trust and the entry is trusted by now. */
  async useTrust(): Promise<void> {
    const isWaiting = (): boolean => hasTag(this.present, 'awaitingTrust');
    if (!isWaiting() || !(await this.#entry.isTrusted())) return;
    if (isWaiting()) this.connection.dispatch({ type: 'connection.retry' });
  }

  /** Called after the removal: forgets its lists and its subscriptions. */
  removed(): void {
    const { name, generation } = this;
    const { effects, publisher } = this.runtime;
    forgetLists(effects, { name, generation });
    effects.wishes.forget(name);
    this.#isRemoved = true;
    this.#ref = undefined;
    publisher.publish({ type: 'connection.removed', server: name, generation });
  }

  spawned(ref: ConnectionRef, isReplacement: boolean): void {
    const { publisher } = this.runtime;
    const from = isReplacement && this.#ref !== undefined ? stateOf(this.#ref) : undefined;
    this.#ref = ref;
    follow(ref, publisher.publish, () => publisher.wake(), from);
  }

  ended(reason: StopReason | 'crash', generation: number): void {
    const { name } = this;
    forgetLists(this.runtime.effects, { name, generation });
    this.runtime.publisher.publish({ type: 'connection.stopped', server: name, generation, reason });
  }

  givenUp(failure: Failure): void {
    const snapshot = this.#ref?.getSnapshot();
    const about = { server: this.name, generation: this.generation };
    const { publish } = this.runtime.publisher;
    publish({
      type: 'connection.failed',
      ...about,
      failure,
      attempt: snapshot?.context?.attempt ?? 0,
      maxAttempts: snapshot?.context === undefined ? 0 : attemptLimit(snapshot.context),
    });
    const from = snapshot?.value === undefined ? null : publicState(snapshot.value).state;
    publish({ type: 'connection.state', ...about, from, to: 'stopped', substate: '' });
    this.ended('crash', about.generation);
  }

  #withTokens(own: Mask = NO_MASK): Mask {
    const tokens = this.terms.tokenMask(this.name);
    return tokens === NO_MASK ? own : (text) => tokens(own(text));
  }

  #shownTools(): readonly string[] {
    const { settings } = this.#entry;
    return this.tools.map((tool) => tool.name).filter((tool) => isAllowed(tool, settings.tools));
  }

  /** Whether no session of the present entry is in use: the last attempt failed, or the session is of the former entry. */
  #hasNoSession(): boolean {
    return this.present.state === 'failed' || this.status.outdated !== null;
  }

  /** Opens a session for the new entry. A stopped connection stays stopped: its next start uses the new entry anyway. */
  #renew(): void {
    const { transport, settings } = this.#entry;
    const { policy, start } = settings;
    if (!this.connection.allowed.includes('connection.reload')) return;
    // A lazy server is started once, to list its tools for the new entry.
    this.connection.dispatch({ type: 'connection.reload', transport, policy, wanted: start === 'lazy' });
  }

  /** Applies the numbers of the entry without a restart. A dormant connection that is no longer lazy is started. */
  #updatePolicy(): void {
    const { policy, start } = this.#entry.settings;
    if (this.#ref?.getSnapshot().status === 'active') this.#ref.send({ type: 'policy.changed', policy });
    if (hasTag(this.present, 'dormant') && start === 'eager')
      this.connection.dispatch({ type: 'connection.start' });
  }
}

function stateOf(ref: ConnectionRef): PublicState {
  return publicState(ref.getSnapshot().value);
}

/** The status row. */
function statusOf(server: Server): ServerStatus {
  const { name, entry, ref, context, present, generation, runtime } = server;
  const { extras, signIns } = runtime.effects;
  const facts: StatusFacts = {
    server: name,
    source: entry.row.source,
    transport: entry.transport,
    generation,
    toolCount: runtime.toolCount(name),
    toolsLeftOut: runtime.toolsLeftOut(name),
    extras: extras.counts(name),
    reason: present.state === 'stopped' ? whyStopped(server) : null,
    stderrTail: server.session?.transport?.stderrTail() ?? [],
    trustRequest: hasTag(present, 'awaitingTrust') ? (entry.trustRequest ?? null) : null,
    authUrl:
      hasTag(present, 'authorizing') || hasTag(present, 'usable') ? (signIns?.url(name) ?? null) : null,
  };
  return toStatus(facts, present, ref === undefined ? NO_DETAILS : detailsOf(ref), context);
}

function whyStopped({ entry, context }: Server): StoppedReason | null {
  return entry.settings.enabled ? (context?.stopReason ?? null) : 'disabled';
}
