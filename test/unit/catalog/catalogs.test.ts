import { describe, expect, it } from 'vitest';
import { Catalogs } from '../../../src/catalog/catalogs.js';
import { tool } from '../../support/scripted-server.js';

describe('the catalogs', () => {
  it('keep the list of each connection until it is deleted', () => {
    const catalogs = new Catalogs();
    catalogs.replace('a', [tool('one')]);
    catalogs.replace('b', []);
    expect(catalogs.get('a')?.tools.map(({ name }) => name)).toEqual(['one']);
    expect(catalogs.get('b')?.tools).toEqual([]);
    catalogs.delete('a');
    expect(catalogs.get('a')).toBeUndefined();
    expect(catalogs.get('b')).toBeDefined();
  });

  it('find no difference between equal lists, whatever their order, and keep the old one', () => {
    const catalogs = new Catalogs();
    const { catalog } = catalogs.replace('a', [tool('one'), tool('two')]);
    expect(catalogs.replace('a', [tool('two'), tool('one')])).toEqual({ catalog, diff: undefined });
    expect(catalogs.get('a')).toBe(catalog);
  });

  it('keep the objects of the tools that did not change', () => {
    const catalogs = new Catalogs();
    const [one, two] = [tool('one'), tool('two')];
    catalogs.replace('a', [one, two]);
    const { catalog, diff } = catalogs.replace('a', [tool('one'), tool('two', { title: 'T' }), tool('new')]);
    expect(diff).toEqual({ added: ['new'], removed: [], changed: ['two'] });
    expect(catalog.tools[0]).toBe(one);
    expect(catalog.tools[1]).not.toBe(two);
  });

  it('treat the first list as added, and an empty one as no change', () => {
    const catalogs = new Catalogs();
    expect(catalogs.replace('a', [tool('one')]).diff).toEqual({ added: ['one'], removed: [], changed: [] });
    expect(catalogs.replace('b', []).diff).toEqual({ added: [], removed: [], changed: [] });
    expect(catalogs.replace('a', []).diff).toEqual({ added: [], removed: ['one'], changed: [] });
  });
});
