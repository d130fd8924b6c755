/** Parses the tables of `docs/explanation/lifecycle.md`, which describe the lifecycle of a connection. */
import { readFileSync } from 'node:fs';

/** A row about a state. */
export interface StateRow {
  /** `launching.opening`, `ready.catalog.stale`. */
  readonly state: string;
  /** The effect that runs in it; empty for none. */
  readonly runs: string;
  /** Whether something of a session may be alive. */
  readonly session: 'no' | 'maybe' | 'yes';
}

/** A row about a transition. */
export interface Move {
  readonly in: readonly string[];
  readonly when: readonly string[];
  readonly if: readonly string[];
  readonly to: string;
  readonly and: readonly string[];
}

export interface LifecyclePage {
  readonly states: readonly StateRow[];
  readonly moves: readonly Move[];
  /** The terms of the columns `if` and `and` that the page defines. */
  readonly conditions: readonly string[];
  readonly changes: readonly string[];
}

type Cells = Readonly<Record<string, string>>;

export function readLifecyclePage(): LifecyclePage {
  return lifecyclePageOf(
    readFileSync(new URL('../../../docs/explanation/lifecycle.md', import.meta.url), 'utf8'),
  );
}

export function lifecyclePageOf(text: string): LifecyclePage {
  const rows = tablesOf(text).flat();
  return {
    states: rowsWith(rows, 'state', 'runs', 'session').map(({ state, runs, session }) => ({
      state: state!,
      runs: runs!,
      session: session as StateRow['session'],
    })),
    moves: rowsWith(rows, 'in', 'when', 'if', 'then', 'and').map((row) => ({
      in: listOf(row['in']),
      when: listOf(row['when']),
      if: listOf(row['if']),
      to: row['then']!,
      and: listOf(row['and']),
    })),
    conditions: rowsWith(rows, 'in if').flatMap((row) => listOf(row['in if'])),
    changes: rowsWith(rows, 'in and').flatMap((row) => listOf(row['in and'])),
  };
}

function rowsWith(rows: readonly Cells[], ...columns: string[]): Cells[] {
  return rows.filter((row) => columns.every((column) => column in row));
}

function listOf(cell = ''): string[] {
  return cell.split(',').flatMap((word) => word.trim() || []);
}

/** The rows of every table of a page, by column name, without backticks. */
function tablesOf(text: string): Cells[][] {
  return [...text.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => {
    const [head = [], , ...rows] = table.trim().split('\n').map(cellsOf);
    return rows.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ''])));
  });
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.replaceAll('`', '').trim());
}
