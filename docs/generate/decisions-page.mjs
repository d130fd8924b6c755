/**
 * docs/decisions/README.md: every decision with its number, title, date and status, as the head of its file gives them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cell, page, table } from './markdown.mjs';

const HEAD = /^# (\d+)\. (.+)\n\nStatus: ([a-z]+) · (\d{4}-\d\d-\d\d)(?: · (.+))?\n/;

/**
 * Every decision, in the order of their numbers. Throws if the head of a file is not as it has to be.
 *
 * @param {string} folder
 * @returns {Promise<{ file: string, number: number, title: string, status: string, date: string, note: string }[]>}
 */
export async function readDecisions(folder) {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.+\.md$/.test(name)).toSorted();
  return Promise.all(
    names.map(async (file) => {
      const head = HEAD.exec(await readFile(join(folder, file), 'utf8'));
      if (head === null || Number(head[1]) !== Number(file.slice(0, 4))) {
        throw new Error(`${file} has to begin with "# NUMBER. TITLE" and "Status: STATUS · DATE".`);
      }
      const [, number, title, status, date, note = ''] = head;
      return { file, number: Number(number), title, status, date, note };
    }),
  );
}

/** @param {Awaited<ReturnType<typeof readDecisions>>} decisions */
export function decisionsPage(decisions) {
  return page('Decisions', 'the heads of the files in `docs/decisions`', [
    'The design decisions of Troupe. Each page describes the situation, the decision and its consequences. If a later decision ' +
      'changes an earlier one, the earlier page keeps its text, and its status names the later one.',
    table(
      ['No.', 'Decision', 'Date', 'Status'],
      decisions.map(({ file, number, title, status, date, note }) => [
        String(number),
        `[${cell(title)}](${file})`,
        date,
        cell(note === '' ? status : `${status}; ${note}`),
      ]),
    ),
  ]);
}
