/** The life of a token: when it is read, renewed and given up, and the context at that time. */
import { describe, expect, it } from 'vitest';
import { holdToken, neverDue, renewLater } from '../../../../machines/policy/token-life.js';
import type { SignInInput } from '../../../../machines/sign-in/sign-in.events.js';
import { facts, failureAt, LIFE_MS, SignInDriver } from '../sign-in-driver.js';

const DUE_MS = LIFE_MS - 300_000;
const UNATTENDED = { attended: false };

const settled = (renewed: boolean, failure: object | null = null) => ({
  type: 'tokenSettled',
  renewed,
  failure,
});

/** Token 1 is in use, read from the store; earlier events are cleared. */
async function signedIn(input?: Partial<SignInInput>): Promise<SignInDriver> {
  const driver = new SignInDriver(input);
  await driver.wanted();
  await driver.read(facts(1));
  driver.emitted.splice(0);
  return driver;
}

const refuse = (driver: SignInDriver, token = 1, scopes: readonly string[] = []) =>
  driver.send({ type: 'token.refused', token, scopes });

const demand = (driver: SignInDriver, ...scopes: string[]) =>
  driver.send({ type: 'scope.demanded', token: 1, scopes });

describe('the context of an account', () => {
  it('starts empty, with every field present.', () => {
    expect(new SignInDriver().context).toStrictEqual({
      server: 'port',
      attended: true,
      interactive: true,
      held: null,
      refused: 0,
      renewable: false,
      ledger: { asked: [], wanted: [] },
      challenged: [],
      renewal: { cause: 'due', scopes: [] },
      attempt: 0,
      waiting: 0,
      asking: [],
      answers: [],
      failure: null,
    });
  });
});

describe('a reading', () => {
  it('adopts the stored token, which another process may have obtained.', async () => {
    const driver = new SignInDriver();
    await driver.wanted(5_000);
    await driver.read(facts(1));
    expect(driver.path).toBe('signedIn+idle');
    expect(driver.context.held).toStrictEqual(holdToken(facts(1), true, 5_000));
    expect(driver.emitted).toStrictEqual([settled(false)]);
  });

  it('that finds nothing leaves the account without a token.', async () => {
    const driver = await signedIn();
    await driver.send({ type: 'tokens.outdated' });
    await driver.wanted();
    await driver.read(null);
    expect(driver.path).toBe('signedOut+idle');
    expect(driver.context.held).toBeNull();
    expect(driver.emitted).toStrictEqual([settled(false)]);
  });

  it('that fails is emitted, and the next request reads again.', async () => {
    const driver = new SignInDriver();
    await driver.wanted();
    await driver.fail('readTokens');
    expect(driver.emitted).toStrictEqual([settled(false, failureAt(0))]);
    await driver.wanted();
    expect(driver.begun.get('readTokens')).toBe(2);
  });

  it('keeps the token in use if it is the same one.', async () => {
    const driver = await signedIn();
    const { held } = driver.context;
    await driver.send({ type: 'tokens.outdated' });
    await driver.wanted(10_000);
    await driver.read(facts(1, { expiresInMs: 60_000 }));
    expect(driver.context.held).toBe(held);
    await driver.send({ type: 'tokens.outdated' });
    await driver.wanted(20_000);
    await driver.read(facts(2, { expiresInMs: 60_000 }));
    expect(driver.context.held).toStrictEqual(holdToken(facts(2, { expiresInMs: 60_000 }), true, 20_000));
  });

  it('of a token that is due leads to its renewal.', async () => {
    const driver = new SignInDriver();
    await driver.wanted(5_000);
    await driver.read(facts(2, { expiresInMs: 0 }));
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'due', scopes: [], token: 2 });
    expect(driver.emitted).toStrictEqual([]);
  });

  it('begins again if the store changes while it is being read.', async () => {
    const driver = new SignInDriver();
    await driver.wanted();
    await driver.send({ type: 'tokens.outdated' });
    expect(driver.begun.get('readTokens')).toBe(2);
    expect(driver.running).toEqual(['readTokens']);
  });

  it('that finds nothing leads to a renewal if no person is needed for a token.', async () => {
    const driver = new SignInDriver(UNATTENDED);
    await driver.wanted();
    await driver.read(null);
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'due', scopes: [], token: 0 });
  });
});

describe('a renewal ahead of the end', () => {
  async function due(): Promise<SignInDriver> {
    const driver = await signedIn();
    await driver.wanted(DUE_MS - 1);
    expect(driver.isRunning('renewToken')).toBe(false);
    await driver.wanted(DUE_MS);
    return driver;
  }

  it('gets another token, and emits an event.', async () => {
    const driver = await due();
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'due', scopes: [], token: 1 });
    await driver.renew(facts(2));
    expect(driver.path).toBe('signedIn+idle');
    expect(driver.context.held).toStrictEqual(holdToken(facts(2), false, DUE_MS));
    expect(driver.emitted).toStrictEqual([settled(true)]);
  });

  it('has that cause, whatever the cause of the renewal before it.', async () => {
    const driver = await signedIn();
    await refuse(driver, 1, ['sail']);
    await driver.renew(facts(2));
    await driver.wanted(DUE_MS);
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'due', scopes: [], token: 2 });
    await refuse(driver, 2, ['sail']);
    await driver.renew(facts(3));
    await driver.send({ type: 'tokens.outdated' });
    await driver.wanted();
    await driver.read(facts(4, { expiresInMs: 0 }));
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'due', scopes: [], token: 4 });
  });

  it('adopts a token that another process has renewed, and marks it so.', async () => {
    const driver = await due();
    await driver.renew(facts(2), true);
    expect(driver.context.held).toStrictEqual(holdToken(facts(2), true, DUE_MS));
  });

  it('replaces the token even if its number is the same.', async () => {
    const driver = await due();
    await driver.renew(facts(1));
    expect(driver.context.held).toStrictEqual(holdToken(facts(1), false, DUE_MS));
  });

  it('is not tried again without a refresh token.', async () => {
    const driver = await due();
    const { held } = driver.context;
    await driver.renew(null);
    expect(driver.context.held).toStrictEqual(neverDue(held!));
    expect(driver.emitted).toStrictEqual([settled(false)]);
  });

  it('is tried later if it fails while the token is valid.', async () => {
    const driver = await due();
    const { held } = driver.context;
    await driver.fail('renewToken');
    expect(driver.path).toBe('signedIn+idle');
    expect(driver.context.held).toStrictEqual(renewLater(held!, DUE_MS));
    expect(driver.emitted).toStrictEqual([settled(false)]);
  });

  it('is a failure if the token has expired by then.', async () => {
    const driver = await due();
    const { held } = driver.context;
    driver.now = LIFE_MS;
    await driver.fail('renewToken');
    expect(driver.context.held).toBe(held);
    expect(driver.emitted).toStrictEqual([settled(false, failureAt(LIFE_MS))]);
  });

  it('is shared by a connection whose token is refused during it, and that connection fails with it.', async () => {
    const driver = await due();
    await refuse(driver, 1, ['sail']);
    expect(driver.context).toMatchObject({
      renewal: { cause: 'refused', scopes: [] },
      refused: 1,
      challenged: ['sail'],
    });
    expect(driver.begun.get('renewToken')).toBe(1);
    await driver.fail('renewToken');
    expect(driver.emitted).toStrictEqual([settled(false, failureAt(DUE_MS))]);
  });

  it('is shared by a demand for more scopes, if no person has to agree to them.', async () => {
    const driver = await signedIn(UNATTENDED);
    await driver.wanted(DUE_MS);
    await demand(driver, 'sail');
    expect(driver.context).toMatchObject({
      renewal: { cause: 'refused', scopes: [] },
      ledger: { asked: [], wanted: ['sail'] },
      challenged: ['sail'],
    });
    expect(driver.begun.get('renewToken')).toBe(1);
  });
});

describe('a token that the server refuses', () => {
  it('is renewed at once, with the scopes that the server names.', async () => {
    const driver = await signedIn();
    await refuse(driver, 1, ['sail']);
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'refused', scopes: ['sail'], token: 1 });
    expect(driver.context).toMatchObject({ refused: 1, challenged: ['sail'] });
  });

  it('is not renewed if it is not the one in use.', async () => {
    const driver = await signedIn();
    expect(await refuse(driver, 2)).toBe('guarded');
    expect(driver.context.refused).toBe(0);
  });

  it('may be missing.', async () => {
    const driver = new SignInDriver();
    await driver.wanted();
    await driver.read(null);
    await refuse(driver, 0);
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'refused', scopes: [], token: 0 });
  });

  it('stays in use without a refresh token.', async () => {
    const driver = await signedIn();
    const { held } = driver.context;
    await refuse(driver);
    await driver.renew(null);
    expect(driver.context).toMatchObject({ held, ledger: { asked: [], wanted: [] } });
    expect(driver.context.held).toBe(held);
    expect(driver.emitted).toStrictEqual([settled(false)]);
  });

  it('is given up, with the cause, if its renewal fails, however long it would be valid.', async () => {
    const driver = await signedIn();
    await refuse(driver);
    await driver.fail('renewToken');
    expect(driver.path).toBe('signedIn+idle');
    expect(driver.emitted).toStrictEqual([settled(false, failureAt(0))]);
  });

  it('leaves the ledger of scopes unchanged once it is renewed.', async () => {
    const driver = await signedIn();
    await refuse(driver, 1, ['sail']);
    await driver.renew(facts(2));
    expect(driver.context.ledger).toStrictEqual({ asked: [], wanted: [] });
  });

  it('can be renewed again if another process had renewed it.', async () => {
    const adopted = await signedIn();
    await adopted.send({ type: 'token.refusedAgain', token: 1 });
    expect(adopted.context).toMatchObject({ refused: 1, renewable: true });
    const own = await signedIn();
    await refuse(own);
    await own.renew(facts(2));
    await own.send({ type: 'token.refusedAgain', token: 2 });
    expect(own.context).toMatchObject({ refused: 2, renewable: false });
  });
});

describe('a demand for more scopes', () => {
  it('is left to a person, who has to agree to them.', async () => {
    const driver = await signedIn();
    await demand(driver, 'sail');
    expect(driver.path).toBe('signedIn+idle');
    expect(driver.context).toMatchObject({
      ledger: { asked: [], wanted: ['sail'] },
      challenged: ['sail'],
      refused: 1,
    });
  });

  it('is left to a person during a renewal as well, and the renewal keeps its own cause.', async () => {
    const driver = await signedIn();
    await driver.wanted(DUE_MS);
    await demand(driver, 'sail');
    expect(driver.context).toMatchObject({
      renewal: { cause: 'due' },
      ledger: { asked: [], wanted: ['sail'] },
      refused: 1,
    });
  });

  it.each(['look', 'sail'])(
    'leads to a renewal if no person is needed (%s was granted).',
    async (granted) => {
      const driver = new SignInDriver(UNATTENDED);
      await driver.wanted();
      await driver.read(facts(1, { scopes: [granted] }));
      await demand(driver, 'moor');
      expect(driver.inputOf('renewToken')).toStrictEqual({
        cause: 'demanded',
        scopes: [granted, 'moor'],
        token: 1,
      });
      await driver.renew(facts(2));
      expect(driver.context.ledger).toStrictEqual({ asked: [granted, 'moor'], wanted: [] });
    },
  );

  it('is answered even if the renewal yields the same token, and is made once.', async () => {
    const driver = await signedIn(UNATTENDED);
    await demand(driver, 'sail');
    await driver.renew(null);
    expect(driver.context.ledger).toStrictEqual({ asked: ['look', 'sail'], wanted: [] });
    expect(await demand(driver, 'sail')).toBe('guarded');
  });

  it('is still open after a renewal that failed.', async () => {
    const driver = await signedIn(UNATTENDED);
    await demand(driver, 'sail');
    await driver.fail('renewToken');
    expect(driver.context.ledger).toStrictEqual({ asked: [], wanted: ['sail'] });
  });

  it('stays a demand if its token is refused during the renewal.', async () => {
    const driver = await signedIn(UNATTENDED);
    await demand(driver, 'sail');
    await refuse(driver);
    expect(driver.context.renewal).toStrictEqual({ cause: 'demanded', scopes: ['look', 'sail'] });
  });

  it('without a token requests the scopes that it names.', async () => {
    const driver = new SignInDriver(UNATTENDED);
    await driver.send({ type: 'scope.demanded', token: 0, scopes: ['sail'] });
    expect(driver.inputOf('renewToken')).toStrictEqual({ cause: 'demanded', scopes: ['sail'], token: 0 });
  });
});

describe('the end of an account', () => {
  it('answers the requests for a token, and finishes the work in progress.', async () => {
    const driver = await signedIn();
    await refuse(driver);
    await driver.send({ type: 'account.closing' });
    expect(driver.emitted).toStrictEqual([settled(false), { type: 'givenUp' }]);
    expect(driver.running).toEqual(['finishWork']);
    await driver.fail('finishWork');
    expect(driver.snapshot.status).toBe('done');
  });

  it('continues if it is requested again.', async () => {
    const driver = await signedIn();
    await driver.send({ type: 'account.closing' });
    driver.emitted.splice(0);
    await driver.send({ type: 'account.closing' });
    expect(driver.begun.get('finishWork')).toBe(1);
    expect(driver.newEvents).not.toContain('tokenSettled');
  });

  it('aborts work that takes too long.', async () => {
    const driver = await signedIn();
    await driver.send({ type: 'account.closing' });
    await driver.send({ type: 'account.hurried' });
    expect(driver.running).toEqual(['cutWork']);
    await driver.settle('cutWork');
    expect(driver.snapshot.status).toBe('done');
  });
});
