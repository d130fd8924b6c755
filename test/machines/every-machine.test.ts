import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { StateMachine } from 'xstate';
import * as machines from '../../machines/index.js';

const folder = new URL('../../machines/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.machine.ts'));

describe('every machine', () => {
  it.each(files)('in %s can be made: no target or initial state of it is misspelled.', async (file) => {
    const exported = (await import(new URL(file, folder).href)) as Record<string, unknown>;
    const made = Object.values(exported).filter((value) => value instanceof StateMachine);
    expect(made).toHaveLength(1);
    expect(`${made[0]!.id}.machine.ts`).toBe(file);
  });

  it('is exported, under its name.', () => {
    const names = files.map((file) => `${file.replace('.machine.ts', '')}Machine`);
    expect(Object.keys(machines)).toEqual(expect.arrayContaining(names));
  });

  it('ends an endless loop of transitions as an error.', () => {
    expect(machines.connectionMachine.options.maxIterations).toBe(100);
    expect(machines.managerMachine.options.maxIterations).toBe(100);
    expect(machines.reviewMachine.options.maxIterations).toBe(100);
  });
});
