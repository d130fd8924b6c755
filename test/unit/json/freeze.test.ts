import { afterEach, describe, expect, it, vi } from 'vitest';

async function freezerIn(environment: string | undefined): Promise<<T>(value: T) => T> {
  vi.stubEnv('NODE_ENV', environment);
  vi.resetModules();
  const { freezeInDevelopment } = await import('../../../src/json/freeze.js');
  return freezeInDevelopment;
}

describe('a value that several observers share', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(['development', 'test', undefined])('is deeply frozen in %s', async (environment) => {
    const freeze = await freezerIn(environment);
    const inner = { list: ['a', { deep: true }], nothing: null };
    const event = { type: 'x', inner };
    expect(freeze(event)).toBe(event);
    for (const value of [event, inner, inner.list, inner.list[1]]) expect(Object.isFrozen(value)).toBe(true);
    expect(() => inner.list.push('b')).toThrow(TypeError);
  });

  it('is not frozen in production', async () => {
    const freeze = await freezerIn('production');
    const event = { type: 'x', inner: {} };
    expect(freeze(event)).toBe(event);
    expect([event, event.inner].map(Object.isFrozen)).toEqual([false, false]);
  });
});
