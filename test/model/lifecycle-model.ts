/**
 * The life of a connection, written by hand from the design and knowing nothing of the chart: what a person would
 * expect after each event. Coarse where the design is: it tells whether a command is obeyed, not why it is not.
 */
import type { ConnectionCommand, StopIntent, TransportKind } from '../../machines/connection.events.js';
import type { Verdict } from '../../machines/policy/failure.js';
import type { ConnectionPolicy } from '../../machines/policy/policy.js';
import { PLAIN_POLICY } from '../support/connection-driver.js';
import type { Slot } from '../support/held-effects.js';

export const BACKOFF_MS = 1_000;

/** Small numbers, so that a short story meets every limit. */
export const MODEL_POLICY: ConnectionPolicy = {
  ...PLAIN_POLICY,
  maxAttempts: 3,
  backoff: { kind: 'fixed', delaysMs: [BACKOFF_MS] },
  intensity: { restarts: 3, periodMs: 6_000 },
  immediateRetryWindowMs: 8_000,
  exhausted: { callAfterMs: 2_000, remoteEveryMs: 8_000 },
  listChanged: { debounceMs: 300, maxWaitMs: 900 },
};

/** Where a public state may lead. */
export const LEGAL_MOVES: Readonly<Record<string, readonly string[]>> = {
  configuring: ['launching', 'failed', 'shuttingDown'],
  launching: ['handshaking', 'reconnecting', 'failed', 'shuttingDown'],
  handshaking: ['ready', 'launching', 'reconnecting', 'failed', 'shuttingDown'],
  ready: ['reconnecting', 'handshaking', 'failed', 'shuttingDown'],
  reconnecting: ['configuring', 'failed', 'shuttingDown'],
  failed: ['configuring', 'reconnecting', 'shuttingDown'],
  shuttingDown: ['configuring', 'failed', 'stopped'],
  stopped: [],
};

const EFFECT_OF: Readonly<Record<string, Slot>> = {
  'configuring.resolving': 'resolveConfig',
  'launching.opening': 'openTransport',
  'handshaking.initializing': 'handshake',
  'handshaking.listing': 'listTools',
  'handshaking.authorizing': 'authorize',
  'reconnecting.releasing': 'releaseSession',
  'failed.releasing': 'releaseSession',
  'shuttingDown.draining': 'drainCalls',
  'shuttingDown.closing': 'closeSession',
  'shuttingDown.killing': 'killSession',
};

export interface Start {
  readonly transport: TransportKind;
  readonly wanted: boolean;
  readonly online: boolean;
}

type Liveness = 'resting' | 'probing' | 'suspect';
type Catalog = 'current' | 'debouncing' | 'refreshing' | 'stale';

export class LifecycleModel {
  transport: TransportKind;
  attempt = 0;
  generation = 0;
  #state = 'configuring.resolving';
  #wanted: boolean;
  #online: boolean;
  #isReleased = true;
  #isUnasked = false;
  /** The failure that ended the round may pass by itself. */
  #mayPass = false;
  #failedAt = 0;
  #intent: StopIntent | null = null;
  #losses: number[] = [];
  #delayMs = 0;
  #now = 0;
  #timerAt: number | null = null;
  #liveness: Liveness = 'resting';
  #catalog: Catalog = 'current';
  #changedAt: number | null = null;
  #isEnriching = false;

  constructor(start: Start) {
    this.transport = start.transport;
    this.#wanted = start.wanted;
    this.#online = start.online;
  }

  get path(): string {
    return this.isReady ? `ready.${this.#liveness}+${this.#catalog}` : this.#state;
  }

  get isReady(): boolean {
    return this.#state === 'ready';
  }

  /** The effects that this state asks for, sorted; the watcher is one of them. */
  get effects(): string[] {
    const effect = EFFECT_OF[this.#state];
    if (effect !== undefined) return [effect];
    if (!this.isReady) return [];
    return [
      ...(this.#isEnriching ? ['enrichCatalog'] : []),
      ...(this.#catalog === 'refreshing' ? ['listTools'] : []),
      ...(this.#liveness === 'resting' ? [] : ['probe']),
      'watchSession',
    ];
  }

  /** Whether it is obeyed. */
  command(command: ConnectionCommand): boolean {
    if (this.#state === 'stopped') return false;
    const isEnding = this.#in('shuttingDown') && !this.#isReturning;
    switch (command.type) {
      case 'connection.stop':
        if (this.#in('shuttingDown')) return this.#stopAgain();
        return this.#shutDown('stop');
      case 'connection.restart':
        if (this.#in('shuttingDown')) return this.#intent === 'idle' && this.#shutDown('restart');
        return this.#shutDown('restart');
      case 'connection.reload':
        if (isEnding) return false;
        this.#shutDown('reload');
        this.transport = command.transport;
        return true;
      case 'connection.start':
        return this.#start();
      case 'connection.retry':
        return this.#retry();
      case 'connection.refresh':
        if (!this.isReady || this.#catalog === 'refreshing') return false;
        this.#refresh();
        return true;
      case 'trust.granted':
        return this.#state === 'configuring.awaitingTrust' && this.#go('configuring.resolving');
      case 'trust.denied':
        return this.#state === 'configuring.awaitingTrust' && this.#giveUp('permanent');
    }
  }

  succeed(slot: Slot, kind: 'resolved' | 'untrusted' | 'dormant' = 'resolved'): void {
    switch (slot) {
      case 'resolveConfig':
        if (kind === 'resolved') this.#launch();
        else this.#go(kind === 'untrusted' ? 'configuring.awaitingTrust' : 'configuring.dormant');
        return;
      case 'openTransport':
        this.#go('handshaking.initializing');
        return;
      case 'handshake':
        this.#go('handshaking.listing');
        return;
      case 'listTools':
        if (this.isReady) this.#refreshed('current');
        else this.#becomeReady();
        return;
      case 'enrichCatalog':
        this.#isEnriching = false;
        return;
      case 'probe':
        this.#liveness = 'resting';
        return;
      case 'authorize':
        this.#isReleased = true;
        this.#queue();
        return;
      case 'releaseSession':
        this.#released();
        return;
      case 'drainCalls':
        this.#go('shuttingDown.closing');
        return;
      case 'closeSession':
      case 'killSession':
        this.#closed();
    }
  }

  fail(slot: Slot, verdict: Verdict): void {
    switch (slot) {
      case 'openTransport':
      case 'handshake':
        this.#attemptFailed(verdict);
        return;
      case 'listTools':
        if (this.isReady) this.#refreshed('stale');
        else this.#attemptFailed(verdict);
        return;
      case 'enrichCatalog':
        this.#isEnriching = false;
        return;
      case 'probe':
        if (this.#liveness === 'probing') this.#liveness = 'suspect';
        else this.lose(verdict);
        return;
      case 'releaseSession':
        if (this.#in('failed')) this.#go('failed.settled');
        else this.#giveUp(verdict);
        return;
      case 'drainCalls':
        this.#go('shuttingDown.closing');
        return;
      case 'closeSession':
        this.#go('shuttingDown.killing');
        return;
      case 'killSession':
        if (this.#isReturning) this.#giveUp(verdict);
        else this.#go('stopped');
        this.#intent = null;
        return;
      case 'resolveConfig':
      case 'authorize':
        this.#giveUp(verdict);
    }
  }

  lose(verdict: Verdict): void {
    const { restarts, periodMs } = MODEL_POLICY.intensity;
    const losses = [...this.#losses, this.#now];
    const isTooOften = losses.filter((at) => this.#now - at <= periodMs).length >= restarts;
    const isCrashLoop = isTooOften && verdict !== 'renew';
    if (verdict === 'authorize') this.#go('handshaking.authorizing');
    else if (
      verdict === 'permanent' ||
      isCrashLoop ||
      (verdict !== 'renew' && this.attempt >= MODEL_POLICY.maxAttempts)
    ) {
      this.#giveUp(isCrashLoop ? 'permanent' : verdict);
    } else {
      const isFirst = !this.#losses.some((at) => this.#now - at <= MODEL_POLICY.immediateRetryWindowMs);
      this.#delayMs = isFirst || (verdict === 'renew' && !isTooOften) ? 0 : BACKOFF_MS;
      this.#isUnasked = true;
      if (verdict === 'renew') this.attempt = Math.min(this.attempt, MODEL_POLICY.maxAttempts - 1);
      this.#losses = losses;
      this.#go('reconnecting.releasing');
    }
  }

  slotGranted(): void {
    if (this.#state === 'launching.waitingForSlot') this.#open();
  }

  /** A remote server that waits to try again is held while offline, and tried at a moment of its own when back. */
  network(online: boolean, delayMs: () => number): void {
    this.#online = online;
    if (!online && this.#isHeld && this.#state === 'reconnecting.backingOff')
      this.#go('reconnecting.offline');
    if (!online) return;
    if (this.#state === 'failed.retryingSlowly') this.#tryOnceMore(true);
    else if (this.#state !== 'reconnecting.offline') return;
    this.#isUnasked = true;
    this.#delayMs = delayMs();
    this.#backOff();
  }

  /** Which moment the slow clock has drawn is not for the model to know. */
  slowRetryIn(delayMs: () => number): void {
    if (this.#state === 'failed.retryingSlowly') this.#timerAt ??= this.#now + delayMs();
  }

  get mayTryForCall(): boolean {
    const isWaiting = this.#state === 'failed.resting' || this.#state === 'failed.retryingSlowly';
    return isWaiting && this.#now - this.#failedAt >= MODEL_POLICY.exhausted.callAfterMs;
  }

  callWaits(): void {
    if (!this.mayTryForCall) return;
    this.#tryOnceMore(false);
    this.#go('configuring.resolving');
  }

  stable(): void {
    this.attempt = 0;
  }

  idle(): void {
    this.#shutDown('idle');
  }

  quiet(): void {
    if (this.#liveness === 'resting') this.#liveness = 'probing';
  }

  listChanged(): void {
    const { debounceMs, maxWaitMs } = MODEL_POLICY.listChanged;
    this.#changedAt ??= this.#now;
    if (this.#catalog === 'refreshing') return;
    const isNew = this.#catalog !== 'debouncing';
    this.#catalog = 'debouncing';
    if (isNew || this.#now + debounceMs - this.#changedAt <= maxWaitMs)
      this.#timerAt = this.#now + debounceMs;
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    if (this.#timerAt !== null && this.#timerAt <= end) {
      this.#timerAt = null;
      if (this.isReady) this.#refresh();
      else if (this.#state !== 'failed.retryingSlowly') this.#go('configuring.resolving');
      else if (this.#online) {
        this.#tryOnceMore(true);
        this.#go('configuring.resolving');
      }
    }
    this.#now = end;
  }

  get #isReturning(): boolean {
    return this.#intent === 'restart' || this.#intent === 'reload' || this.#intent === 'idle';
  }

  get #isRemote(): boolean {
    return this.transport === 'http' || this.transport === 'sse';
  }

  get #isHeld(): boolean {
    return !this.#online && this.#isRemote;
  }

  get #restingPlace(): string {
    if (!this.#mayPass) return 'failed.settled';
    return this.#isRemote ? 'failed.retryingSlowly' : 'failed.resting';
  }

  #in(state: string): boolean {
    return this.#state.startsWith(`${state}.`);
  }

  #go(state: string): true {
    this.#state = state;
    this.#timerAt = null;
    return true;
  }

  #newRound(): void {
    this.attempt = 0;
    this.#losses = [];
    this.#delayMs = 0;
    this.#wanted = true;
    this.#isUnasked = false;
  }

  #giveUp(verdict: Verdict): true {
    this.#mayPass = verdict === 'retry' || verdict === 'renew';
    this.#failedAt = this.#now;
    return this.#go('failed.releasing');
  }

  #tryOnceMore(isUnasked: boolean): void {
    this.attempt = MODEL_POLICY.maxAttempts - 1;
    this.#isUnasked = isUnasked;
  }

  #start(): boolean {
    if (this.#in('failed')) return this.#tryAgain();
    if (this.#state === 'configuring.dormant') {
      this.#newRound();
      return this.#go('configuring.resolving');
    }
    if (this.#in('shuttingDown')) return this.#intent === 'idle' && this.#shutDown('restart');
    if (!this.#in('configuring') || this.#wanted) return false;
    this.#newRound();
    return true;
  }

  #retry(): boolean {
    if (this.#in('failed')) return this.#tryAgain();
    if (this.#state === 'configuring.awaitingTrust') return this.#go('configuring.resolving');
    if (!this.#in('reconnecting') && this.#state !== 'handshaking.authorizing') return false;
    this.#newRound();
    if (this.#state === 'handshaking.authorizing') return this.#go('reconnecting.releasing');
    return this.#state === 'reconnecting.releasing' || this.#go('configuring.resolving');
  }

  #tryAgain(): true {
    this.#newRound();
    const mayOpen = this.#state !== 'failed.releasing' && this.#isReleased;
    return this.#go(mayOpen ? 'configuring.resolving' : 'reconnecting.releasing');
  }

  #launch(): void {
    this.attempt += 1;
    this.#wanted = true;
    this.#queue();
  }

  #queue(): void {
    if (this.transport === 'stdio' || (this.#isUnasked && this.#isRemote))
      this.#go('launching.waitingForSlot');
    else this.#open();
  }

  #open(): void {
    this.generation += 1;
    this.#isReleased = false;
    this.#go('launching.opening');
  }

  #becomeReady(): void {
    this.#go('ready');
    this.#isUnasked = false;
    this.#liveness = 'resting';
    this.#catalog = 'current';
    this.#changedAt = null;
    this.#isEnriching = true;
  }

  #refresh(): void {
    this.#catalog = 'refreshing';
    this.#changedAt = null;
    this.#timerAt = null;
  }

  #refreshed(catalog: Catalog): void {
    this.#catalog = this.#changedAt === null ? catalog : 'debouncing';
    if (this.#changedAt !== null) this.#timerAt = this.#now + MODEL_POLICY.listChanged.debounceMs;
  }

  #attemptFailed(verdict: Verdict): void {
    if (verdict === 'authorize') this.#go('handshaking.authorizing');
    else if (verdict === 'permanent' || this.attempt >= MODEL_POLICY.maxAttempts) this.#giveUp(verdict);
    else {
      this.#isUnasked = true;
      this.#delayMs = BACKOFF_MS;
      this.#go('reconnecting.releasing');
    }
  }

  #released(): void {
    this.#isReleased = true;
    if (this.#in('failed')) this.#go(this.#restingPlace);
    else if (this.#isHeld) this.#go('reconnecting.offline');
    else this.#backOff();
  }

  #backOff(): void {
    this.#go('reconnecting.backingOff');
    this.#timerAt = this.#now + this.#delayMs;
  }

  #shutDown(intent: StopIntent): true {
    if (intent === 'restart') this.#wanted = true;
    if (intent === 'idle') this.#wanted = false;
    this.#intent = intent;
    return this.#in('shuttingDown') || this.#go('shuttingDown.draining');
  }

  #stopAgain(): boolean {
    if (this.#isReturning) {
      this.#intent = 'stop';
      return true;
    }
    if (this.#state === 'shuttingDown.killing') return false;
    return this.#go(
      this.#state === 'shuttingDown.draining' ? 'shuttingDown.closing' : 'shuttingDown.killing',
    );
  }

  #closed(): void {
    this.#isReleased = true;
    if (!this.#isReturning) this.#go('stopped');
    else {
      this.attempt = 0;
      this.#losses = [];
      this.#delayMs = 0;
      this.#isUnasked = false;
      this.#go(this.#intent === 'idle' ? 'configuring.dormant' : 'configuring.resolving');
    }
    this.#intent = null;
  }
}
