import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StateMachine } from 'xstate';
import { CHARTS } from '../../../machines/charts.js';
import * as machines from '../../../machines/index.js';

const folder = new URL('../../../machines/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.machine.ts'),
);

/** `sign-in.machine.ts` holds `signIn`. */
const nameOf = (file: string): string =>
  basename(file, '.machine.ts').replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

describe('every machine', () => {
  it.each(files)('in %s can be created: every target and initial state exists.', async (file) => {
    const exported = (await import(new URL(file, folder).href)) as Record<string, unknown>;
    const made = Object.values(exported).filter((value) => value instanceof StateMachine);
    expect(made).toHaveLength(1);
    expect(made[0]!.id).toBe(nameOf(file));
  });

  it('is exported, under its name.', () => {
    const names = files.map(nameOf);
    expect(Object.keys(machines)).toEqual(expect.arrayContaining(names.map((name) => `${name}Machine`)));
    expect(Object.keys(CHARTS).toSorted()).toEqual(names.toSorted());
  });

  it('ends an endless loop of transitions as an error.', () => {
    for (const machine of Object.values(CHARTS)) expect(machine.options.maxIterations).toBe(100);
  });
});
