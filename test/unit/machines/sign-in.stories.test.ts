/**
 * Random sequences of events of one account: connections request tokens, are refused, join and leave, codes come and fail,
 * and the troupe closes at some point. After every step:
 *
 * 1. No effect runs twice at a time: there is one sign-in, one renewal and one exchange.
 * 2. Every code is exchanged once at most.
 * 3. Everything that waits (for a token, a sign-in, the outcome of a code) will get an answer, and the chart counts the
 *    connections that wait for a sign-in correctly.
 * 4. Nothing runs once the chart is closed.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SignInEvent } from '../../../machines/sign-in/sign-in.events.js';
import { verdict } from '../../../machines/verdict.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { facts, failureAt, SignInDriver, type PromiseSlot } from './sign-in-driver.js';

useLeakCheck();

const ENDS: Readonly<Record<PromiseSlot, (driver: SignInDriver, pick: number) => object>> = {
  readTokens: ({ now }, pick) => ({
    found: [null, facts(1), facts(2, { expiresInMs: 0 })][pick % 3],
    at: now,
  }),
  renewToken: ({ now }, pick) => ({
    found: pick % 3 === 0 ? null : facts(pick),
    adopted: pick % 2 === 0,
    at: now,
  }),
  lookForOther: (_, pick) => ({ found: pick % 4 === 0 }),
  beginSignIn: (_, pick) => ({ kind: pick % 5 === 0 ? 'granted' : 'asked' }),
  askPerson: () => ({}),
  exchangeCode: ({ now }, pick) =>
    pick % 3 === 0 ? { kind: 'clientRefused', failure: failureAt(now) } : { kind: 'exchanged' },
  dropClient: () => ({}),
  finishWork: () => ({}),
  cutWork: () => ({}),
};

class Story {
  readonly driver: SignInDriver;
  #waiters = 0;
  #tokenWaiters = 0;
  readonly #codes = new Set<number>();
  readonly #exchanged: number[] = [];
  #lastCode = 0;

  constructor(attended: boolean, interactive: boolean) {
    this.driver = new SignInDriver({ attended, interactive });
  }

  async send(event: SignInEvent): Promise<void> {
    const { driver } = this;
    const answer = verdict(driver.snapshot, event);
    const isTaken = answer === 'accepted' || answer === 'ignored';
    if (event.type === 'signIn.joined' && isTaken) this.#waiters += 1;
    if (event.type === 'signIn.left') this.#waiters -= 1;
    const isOfToken = event.type === 'token.wanted' || event.type === 'token.refused';
    if (isOfToken && isTaken) this.#tokenWaiters += 1;
    if (event.type === 'answer.given' && answer === 'accepted') this.#codes.add(event.answer);
    await driver.send(event);
    this.#check();
  }

  async step(kind: number, pick: number): Promise<void> {
    const { driver } = this;
    driver.now += pick * 200_000;
    const { held } = driver.context;
    const token = held?.token ?? 0;
    switch (kind) {
      case 0:
        return this.send({ type: 'tokens.outdated' });
      case 1:
        return this.send({ type: 'token.wanted', at: driver.now });
      case 2:
        return this.send({ type: 'token.refused', token: pick % 4 === 0 ? 9 : token, scopes: [] });
      case 3:
        return this.send({ type: 'token.refusedAgain', token });
      case 4:
        return this.send({ type: 'scope.demanded', token, scopes: [['look', 'sail', 'moor'][pick % 3]!] });
      case 5:
      case 6:
        return this.send({ type: 'signIn.joined' });
      case 7:
        return this.#waiters > 0 ? this.send({ type: 'signIn.left' }) : undefined;
      case 8:
        return driver.isRunning('openRedirect') ? this.send({ type: 'redirect.opened' }) : undefined;
      case 9:
        this.#lastCode += 1;
        return this.send({ type: 'answer.given', answer: this.#lastCode });
      case 10:
        return this.#give(pick);
      default:
        return kind < 34 ? this.goOn(pick) : this.#fail(pick);
    }
  }

  /** The next step of a sign-in, if one is in progress. */
  async goOn(pick: number): Promise<void> {
    const { path } = this.driver;
    if (path.endsWith('opening')) return this.send({ type: 'redirect.opened' });
    if (!path.endsWith('waitingForPerson')) return this.#settle(pick);
    this.#lastCode += 1;
    return this.send({ type: 'answer.given', answer: this.#lastCode });
  }

  /** An external event during a sign-in, or one from another process. */
  async #give(pick: number): Promise<void> {
    const { driver } = this;
    if (!driver.isRunning('openRedirect')) return;
    if (pick % 3 === 0) return this.send({ type: 'other.signedIn' });
    if (pick % 3 === 1) return this.send({ type: 'answer.refused', failure: failureAt(driver.now) });
    return this.send({ type: 'redirect.failed', failure: failureAt(driver.now) });
  }

  async #settle(pick: number): Promise<void> {
    const slot = this.#slot(pick);
    if (slot === undefined) return;
    await this.driver.settle(slot, ENDS[slot](this.driver, pick));
    this.#check();
  }

  async #fail(pick: number): Promise<void> {
    const slot = this.#slot(pick);
    if (slot === undefined) return;
    await this.driver.fail(slot);
    this.#check();
  }

  #slot(pick: number): PromiseSlot | undefined {
    const slots = this.driver.running.filter((slot): slot is PromiseSlot => slot in ENDS);
    return slots[pick % Math.max(1, slots.length)];
  }

  #check(): void {
    const { driver } = this;
    for (const event of driver.emitted.splice(0)) {
      if (event.type === 'tokenSettled') this.#tokenWaiters = 0;
      if (event.type === 'answerFailed') this.#codes.delete(event.answer);
      if (event.type === 'signedIn' || event.type === 'refused' || event.type === 'givenUp') {
        this.#waiters = 0;
        this.#codes.clear();
      }
    }
    const [token = '', signIn = ''] = driver.path.split('+');
    const isOver = ['idle', 'signedIn', 'refused', 'givenUp', 'closed'].includes(signIn);
    expect(driver.snapshot.status).not.toBe('error');
    expect(driver.twice).toEqual([]);
    expect(driver.context.waiting).toBe(this.#waiters);
    expect(this.#waiters === 0).toBe(isOver);
    if (token !== 'reading' && token !== 'renewing') expect(this.#tokenWaiters).toBe(0);
    expect(new Set(driver.context.answers)).toEqual(this.#codes);
    if (isOver) expect(driver.isRunning('openRedirect') || driver.isRunning('watchForOthers')).toBe(false);
    const exchanging = driver.inputOf('exchangeCode') as { readonly answer: number } | undefined;
    if (exchanging !== undefined && this.#exchanged.at(-1) !== exchanging.answer) {
      expect(this.#exchanged).not.toContain(exchanging.answer);
      this.#exchanged.push(exchanging.answer);
    }
  }

  async close(isHurried: boolean): Promise<void> {
    const { driver } = this;
    await this.send({ type: 'account.closing' });
    if (isHurried) await this.send({ type: 'account.hurried' });
    expect(driver.running).toEqual([isHurried ? 'cutWork' : 'finishWork']);
    await this.#settle(0);
    expect(driver.snapshot.status).toBe('done');
    expect(driver.running).toEqual([]);
  }
}

describe('any sequence of events of an account', () => {
  it('obeys the rules.', async () => {
    const step = fc.tuple(fc.nat(36), fc.nat(20));
    const story = fc.array(step, { minLength: 20, maxLength: 80, size: 'max' });
    const mostly = fc.constantFrom(true, true, true, false);
    const begun = { signIns: 0, exchanges: 0 };
    await fc.assert(
      fc.asyncProperty(
        mostly,
        mostly,
        story,
        fc.boolean(),
        async (attended, interactive, steps, isHurried) => {
          const run = new Story(attended, interactive);
          for (const [kind, pick] of steps) await run.step(kind, pick);
          begun.signIns += run.driver.context.attempt;
          begun.exchanges += run.driver.begun.get('exchangeCode') ?? 0;
          await run.close(isHurried);
        },
      ),
      { numRuns: 300 },
    );
    expect(begun.signIns).toBeGreaterThan(300);
    expect(begun.exchanges).toBeGreaterThan(30);
  }, 60_000);

  it.each([true, false])(
    'ends with every request answered (with a person: %s).',
    async (attended) => {
      const step = fc.tuple(fc.nat(36), fc.nat(20));
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
          const run = new Story(attended, true);
          const { driver } = run;
          for (const [kind, pick] of steps) await run.step(kind, pick);
          for (let turn = 0; turn < 30 && driver.context.waiting > 0; turn += 1) {
            await run.goOn(turn);
          }
          expect(driver.context.waiting).toBe(0);
        }),
        { numRuns: 100 },
      );
    },
    60_000,
  );
});
