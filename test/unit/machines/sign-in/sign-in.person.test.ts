/** A sign-in, from the first connection that waits to the last: whether a person is needed, and the result of the answer. */
import { describe, expect, it } from 'vitest';
import type { SignInInput } from '../../../../machines/sign-in/sign-in.events.js';
import { facts, failureAt, SignInDriver } from '../sign-in-driver.js';

const UNATTENDED = { attended: false };
const WATCHING = { interactive: false };

const join = (driver: SignInDriver) => driver.send({ type: 'signIn.joined' });
const leave = (driver: SignInDriver) => driver.send({ type: 'signIn.left' });
const answer = (driver: SignInDriver, number: number) =>
  driver.send({ type: 'answer.given', answer: number });

/** There is no token, and the server requires scope `sail`; earlier events are cleared. */
async function signedOut(input?: Partial<SignInInput>): Promise<SignInDriver> {
  const driver = new SignInDriver(input);
  await driver.wanted();
  await driver.read(null);
  driver.emitted.splice(0);
  return driver;
}

/** Token 1, which another process has obtained, was refused twice. */
async function refusedTwice(): Promise<SignInDriver> {
  const driver = new SignInDriver();
  await driver.wanted();
  await driver.read(facts(1));
  await driver.send({ type: 'token.refusedAgain', token: 1 });
  driver.emitted.splice(0);
  return driver;
}

async function opening(input?: Partial<SignInInput>): Promise<SignInDriver> {
  const driver = await signedOut(input);
  await driver.send({ type: 'scope.demanded', token: 0, scopes: ['sail'] });
  await join(driver);
  await driver.settle('lookForOther', { found: false });
  return driver;
}

async function asked(): Promise<SignInDriver> {
  const driver = await opening();
  await driver.send({ type: 'redirect.opened' });
  await driver.settle('beginSignIn', { kind: 'asked' });
  driver.emitted.splice(0);
  return driver;
}

const REFUSED = { type: 'refused', failure: failureAt(0) };

const ANSWERED = { asked: ['sail'], wanted: [] };
const OPEN = { asked: [], wanted: ['sail'] };

describe('a connection that waits for a sign-in', () => {
  it('begins one, which looks for another token first.', async () => {
    const driver = await refusedTwice();
    await join(driver);
    expect(driver.running).toEqual(['lookForOther']);
    expect(driver.inputOf('lookForOther')).toStrictEqual({ refused: 1 });
    expect(driver.context).toMatchObject({ attempt: 1, waiting: 1, failure: null });
  });

  it('succeeds if somebody has signed in elsewhere and that token is read.', async () => {
    const driver = await signedOut();
    await join(driver);
    await driver.settle('lookForOther', { found: true });
    expect(driver.path).toBe('unread+signedIn');
    expect(driver.emitted).toStrictEqual([{ type: 'signedIn' }]);
    expect(driver.context).toMatchObject({ waiting: 0, answers: [] });
  });

  it('is refused if looking for another token fails.', async () => {
    const driver = await signedOut();
    await join(driver);
    await driver.fail('lookForOther');
    expect(driver.path).toBe('signedOut+refused');
    expect(driver.emitted).toStrictEqual([REFUSED]);
  });

  it('shares the sign-in with others, and the last one that leaves ends it.', async () => {
    const driver = await asked();
    await join(driver);
    await join(driver);
    expect(driver.context).toMatchObject({ attempt: 1, waiting: 3 });
    await leave(driver);
    await leave(driver);
    expect(driver.context.waiting).toBe(1);
    await answer(driver, 1);
    await leave(driver);
    expect(driver.path).toBe('signedOut+givenUp');
    expect(driver.context).toMatchObject({ waiting: 0, answers: [] });
    expect(driver.emitted).toStrictEqual([{ type: 'givenUp' }]);
    expect(driver.running).toEqual([]);
  });

  it('begins another sign-in after a refused one, and keeps nothing of it.', async () => {
    const driver = await asked();
    await driver.send({ type: 'answer.refused', failure: failureAt(0) });
    await join(driver);
    expect(driver.context).toMatchObject({ attempt: 2, waiting: 1, failure: null });
  });
});

describe('a sign-in by renewal', () => {
  it('is tried if another process had renewed the refused token.', async () => {
    const driver = await refusedTwice();
    await join(driver);
    await driver.settle('lookForOther', { found: false });
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'refused', scopes: [], token: 1 });
    expect(driver.context.renewable).toBe(false);
    await driver.renew(facts(2));
    expect(driver.path).toBe('unread+signedIn');
    expect(driver.newEvents).toEqual(['tokenSettled', 'signedIn']);
  });

  it('continues with the user if there is no refresh token.', async () => {
    const driver = await refusedTwice();
    await join(driver);
    await driver.settle('lookForOther', { found: false });
    await driver.renew(null);
    expect(driver.path).toBe('signedIn+opening');
  });

  it('is refused if it fails.', async () => {
    const driver = await refusedTwice();
    await join(driver);
    await driver.settle('lookForOther', { found: false });
    await driver.fail('renewToken');
    expect(driver.path).toBe('signedIn+refused');
    expect(driver.emitted.at(-1)).toStrictEqual(REFUSED);
  });

  it.each([facts(2), null])('is enough for a client without a person (%j).', async (found) => {
    const driver = new SignInDriver(UNATTENDED);
    await driver.wanted();
    await driver.read(facts(1));
    await driver.send({ type: 'token.refused', token: 1, scopes: ['sail'] });
    await driver.renew(null);
    await join(driver);
    await driver.settle('lookForOther', { found: false });
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'demanded', scopes: ['sail'], token: 1 });
    await driver.renew(found);
    expect(driver.path).toBe('unread+signedIn');
  });
});

describe('a sign-in by a user', () => {
  it('opens a redirect, and watches for other sign-ins.', async () => {
    const driver = await opening();
    expect(driver.running).toEqual(['openRedirect', 'watchForOthers']);
    expect(driver.inputOf('openRedirect')).toStrictEqual({ attempt: 1, interactive: true });
    expect(driver.inputOf('watchForOthers')).toStrictEqual({ refused: 0 });
    expect(driver.context.asking).toEqual(['sail']);
  });

  it('asks for the scopes of the challenge if none is demanded.', async () => {
    const driver = await signedOut();
    await driver.send({ type: 'token.refused', token: 0, scopes: ['look'] });
    await driver.renew(null);
    await join(driver);
    await driver.settle('lookForOther', { found: false });
    expect(driver.context.asking).toEqual(['look']);
  });

  it('keeps what was granted when it asks for more.', async () => {
    const driver = await refusedTwice();
    await driver.send({ type: 'scope.demanded', token: 1, scopes: ['sail'] });
    await join(driver);
    await driver.settle('lookForOther', { found: false });
    await driver.renew(null);
    expect(driver.context.asking).toEqual(['look', 'sail']);
  });

  it('is refused if the redirect cannot be opened.', async () => {
    const driver = await opening();
    await driver.send({ type: 'redirect.failed', failure: failureAt(0) });
    expect(driver.path).toBe('signedOut+refused');
    expect(driver.emitted).toStrictEqual([REFUSED]);
    expect(driver.running).toEqual([]);
  });

  it('discovers the authorization server for its scopes, and emits when a person can be asked.', async () => {
    const driver = await opening();
    await driver.send({ type: 'redirect.opened' });
    expect(driver.inputOf('beginSignIn')).toStrictEqual({ attempt: 1, scopes: ['sail'] });
    await driver.settle('beginSignIn', { kind: 'asked' });
    expect(driver.emitted).toStrictEqual([{ type: 'asked' }]);
    expect(driver.inputOf('askPerson')).toStrictEqual({ attempt: 1 });
    expect([...driver.snapshot.tags].toSorted()).toEqual(['asked', 'waitingForPerson']);
  });

  it('succeeds if the authorization server needs no person.', async () => {
    const driver = await opening();
    await driver.send({ type: 'redirect.opened' });
    await driver.settle('beginSignIn', { kind: 'granted' });
    expect(driver.emitted).toStrictEqual([{ type: 'signedIn' }]);
    expect(driver.context.ledger).toStrictEqual(ANSWERED);
  });

  it('is refused if the authorization server cannot be found.', async () => {
    const driver = await opening();
    await driver.send({ type: 'redirect.opened' });
    await driver.fail('beginSignIn');
    expect(driver.emitted).toStrictEqual([REFUSED]);
    expect(driver.context.ledger).toStrictEqual(OPEN);
  });

  it('is refused if the user cannot be asked.', async () => {
    const driver = await asked();
    await driver.fail('askPerson');
    expect(driver.emitted).toStrictEqual([REFUSED]);
  });

  it('is refused if the user declines.', async () => {
    const driver = await asked();
    await driver.send({ type: 'answer.refused', failure: failureAt(0) });
    expect(driver.emitted).toStrictEqual([REFUSED]);
    expect(driver.context).toMatchObject({ waiting: 0, failure: failureAt(0), ledger: OPEN });
  });

  it('counts if it happens elsewhere.', async () => {
    const driver = await asked();
    await driver.send({ type: 'other.signedIn' });
    expect(driver.path).toBe('unread+signedIn');
    expect(driver.emitted).toStrictEqual([{ type: 'signedIn' }]);
    expect(driver.context.ledger).toStrictEqual(ANSWERED);
  });

  it('is only watched for if nobody can be asked here.', async () => {
    const driver = await opening(WATCHING);
    expect(driver.path).toBe('signedOut+watching');
    expect(driver.inputOf('openRedirect')).toStrictEqual({ attempt: 1, interactive: false });
    expect(driver.emitted).toStrictEqual([{ type: 'asked' }]);
    expect([...driver.snapshot.tags]).toEqual(['waitingForPerson']);
    await driver.send({ type: 'other.signedIn' });
    expect(driver.emitted.slice(1)).toStrictEqual([{ type: 'signedIn' }]);
  });

  it('ends with the account.', async () => {
    const driver = await asked();
    await join(driver);
    await answer(driver, 1);
    await driver.send({ type: 'account.closing' });
    expect(driver.newEvents).toEqual(['tokenSettled', 'givenUp']);
    expect(driver.context).toMatchObject({ waiting: 0, answers: [] });
    expect(driver.running).toEqual(['finishWork']);
  });
});

describe('a code', () => {
  it('is exchanged, which completes the sign-in.', async () => {
    const driver = await asked();
    await answer(driver, 5);
    expect(driver.inputOf('exchangeCode')).toStrictEqual({ attempt: 1, answer: 5 });
    await driver.settle('exchangeCode', { kind: 'exchanged' });
    expect(driver.path).toBe('unread+signedIn');
    expect(driver.emitted).toStrictEqual([{ type: 'signedIn' }]);
    expect(driver.context).toMatchObject({ ledger: ANSWERED, waiting: 0, answers: [] });
  });

  it('waits for the one before it, and is taken once.', async () => {
    const driver = await asked();
    await answer(driver, 5);
    await answer(driver, 6);
    expect(await answer(driver, 5)).toBe('guarded');
    expect(await answer(driver, 6)).toBe('guarded');
    expect(driver.context.answers).toEqual([5, 6]);
    await driver.fail('exchangeCode');
    expect(driver.inputOf('exchangeCode')).toStrictEqual({ attempt: 1, answer: 6 });
    expect(driver.emitted).toStrictEqual([{ type: 'answerFailed', answer: 5, failure: failureAt(0) }]);
  });

  it('that cannot be exchanged leaves the question open.', async () => {
    const driver = await asked();
    await answer(driver, 5);
    await driver.fail('exchangeCode');
    expect(driver.path).toBe('signedOut+waitingForPerson');
    expect(driver.context).toMatchObject({ answers: [], waiting: 1, failure: null });
    expect(driver.emitted).toStrictEqual([{ type: 'answerFailed', answer: 5, failure: failureAt(0) }]);
  });

  it.each(['settle', 'fail'] as const)(
    'of a client that is refused ends the sign-in once the client is forgotten (%s).',
    async (end) => {
      const driver = await asked();
      await answer(driver, 5);
      const failure = failureAt(0, 'no such client');
      await driver.settle('exchangeCode', { kind: 'clientRefused', failure });
      expect(driver.inputOf('dropClient')).toStrictEqual({ attempt: 1 });
      await driver[end]('dropClient');
      expect(driver.emitted).toStrictEqual([{ type: 'refused', failure }]);
      expect(driver.context).toMatchObject({ waiting: 0, answers: [], failure, ledger: OPEN });
    },
  );
});
