import { describe, expect, it } from 'vitest';
import {
  AT_START,
  back,
  move,
  open,
  selectedIndex,
  type ConsoleState,
  type Extent,
  type Move,
} from '../../../../src/cli/console/console-state.js';

const SERVERS = ['a', 'b', 'c', 'd', 'e'];
const EXTENT: Extent = { servers: SERVERS, lines: 20, height: 4 };

const after = (state: ConsoleState, ...moves: readonly Move[]): ConsoleState =>
  moves.reduce((now, by) => move(now, by, EXTENT), state);

describe('the list', () => {
  it.each<[readonly Move[], string]>([
    [['down'], 'b'],
    [['down', 'down', 'up'], 'b'],
    [['up'], 'a'],
    [['last'], 'e'],
    [['last', 'down'], 'e'],
    [['last', 'first'], 'a'],
    [['pageDown'], 'd'],
    [['pageDown', 'pageDown'], 'e'],
    [['last', 'pageUp'], 'b'],
  ])('after %j has %s selected.', (moves, server) => {
    expect(after(AT_START, ...moves).server).toBe(server);
  });

  it('keeps the selected server when others come and go, and selects the first one if it is gone.', () => {
    const state = after(AT_START, 'down');
    expect(selectedIndex(state, ['new', 'a', 'b'])).toBe(2);
    expect(selectedIndex(state, ['a', 'c'])).toBe(0);
    expect(selectedIndex(state, [])).toBe(-1);
    expect(move(state, 'down', { ...EXTENT, servers: [] }).server).toBeUndefined();
  });
});

describe('a page', () => {
  it('scrolls between its start and its end, and keeps the selected server.', () => {
    const details = open(after(AT_START, 'down'), 'details');
    expect(details).toMatchObject({ page: 'details', server: 'b', top: 0 });
    expect(after(details, 'down', 'pageDown').top).toBe(4);
    expect(after(details, 'last').top).toBe(16);
    expect(after(details, 'last', 'down', 'up').top).toBe(15);
    expect(after(details, 'up')).toMatchObject({ server: 'b', top: 0 });
    expect(move(details, 'down', { ...EXTENT, lines: 2 }).top).toBe(0);
  });

  it('with the log follows its end, stays where it is scrolled to, and follows again at the end.', () => {
    const log = open(AT_START, 'log');
    expect(log.top).toBeUndefined();
    expect(after(log, 'up').top).toBe(15);
    expect(after(log, 'up', 'down').top).toBeUndefined();
    expect(after(log, 'first', 'last').top).toBeUndefined();
  });

  it('leads back to the list, and the help to the page below it.', () => {
    const log = open(AT_START, 'log');
    expect(back(log).page).toBe('list');
    expect(back(open(log, 'help'))).toMatchObject({ page: 'log', top: undefined });
    expect(back(open(open(log, 'help'), 'help')).page).toBe('log');
    expect(back(open(open(log, 'help'), 'tools')).page).toBe('list');
    expect(back(AT_START)).toEqual(AT_START);
  });
});
