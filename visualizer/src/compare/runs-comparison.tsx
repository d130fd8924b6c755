/** Two runs: of two logs, or two starts in one log. */
import { useRef, useState } from 'preact/hooks';
import { laneOfConnection, laneTitle } from '../log/lane-names.js';
import { DifferenceTable } from '../parts/difference-table.js';
import { EntryLink } from '../parts/entry-link.js';
import { Nothing } from '../parts/nothing.js';
import { useAnswer, usePage, usePageContext } from '../state/page-context.js';
import { stateValueWords } from '../log/state-words.js';
import { count } from '../state/times.js';
import { namesOf } from '../words/names.js';
import type { ComparedEntry, ConnectionComparison, RunChoice, RunDifference, RunsView } from './messages.js';

const NO_RUNS: RunsView = { names: [], starts: 1, length: 0, problem: null };

export function RunsComparison() {
  const { state, log } = usePageContext();
  const { comparison, book, source } = usePage();
  const { a, b, other } = comparison;
  const [theirs, setTheirs] = useState<RunsView>(NO_RUNS);
  const [trouble, setTrouble] = useState('');
  const ours = useAnswer('runs', { other: null }, book?.length)?.answer ?? NO_RUNS;
  const isSame = a.isOther === b.isOther && a.start === b.start;
  const given = useAnswer('compareRuns', isSame ? undefined : { a, b }, theirs.length)?.answer;
  const ownTitle = source.kind === 'none' ? 'This log' : source.title;

  async function take(file: File): Promise<void> {
    try {
      const read = await log.ask('runs', { other: file });
      setTrouble(read.problem ?? '');
      setTheirs(read);
      if (read.length === 0) return;
      state.change({
        comparison: { ...state.page.comparison, other: file.name, b: { isOther: true, start: null } },
      });
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : 'The log cannot be read.');
    }
  }

  return (
    <div
      class="tool-drop"
      onDrop={(event) => {
        const file = event.dataTransfer?.files[0];
        if (file === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        void take(file);
      }}
    >
      <div class="toolbar">
        <RunSelect
          name="A"
          chosen={a}
          logs={[{ title: ownTitle, isOther: false, runs: ours }]}
          choose={(run) => state.change({ comparison: { ...comparison, a: run } })}
        />
        <RunSelect
          name="B"
          chosen={b}
          logs={[
            { title: ownTitle, isOther: false, runs: ours },
            ...(other === null ? [] : [{ title: other, isOther: true, runs: theirs }]),
          ]}
          choose={(run) => state.change({ comparison: { ...comparison, b: run } })}
        />
        <OtherLog take={(file) => void take(file)} />
        <p class="toolbar-note" role="status">
          {isSame
            ? ''
            : given === undefined
              ? 'Comparing…'
              : `${count(given.connections.length)} of ${count(given.connections.length + given.equal.length)} connections differ`}
        </p>
      </div>
      {trouble !== '' && (
        <p class="banner bad" role="alert">
          {trouble}
        </p>
      )}
      <div class="tool-scroll">
        {isSame && (
          <Nothing title="Choose two runs">
            Open a second log, or drop it here.{' '}
            {ours.starts > 1 && 'This log has several starts, which can be compared, too.'}
          </Nothing>
        )}
        {given !== undefined && given.connections.length === 0 && (
          <Nothing title="No difference">
            Apart from times, ids and jitter, the connections of both runs went the same way.
          </Nothing>
        )}
        {given?.connections.map((each) => (
          <Connection key={each.name} compared={each} isLinked={[!a.isOther, !b.isOther]} />
        ))}
      </div>
    </div>
  );
}

interface RunSelectProps {
  readonly name: string;
  readonly chosen: RunChoice;
  readonly logs: readonly { readonly title: string; readonly isOther: boolean; readonly runs: RunsView }[];
  readonly choose: (run: RunChoice) => void;
}

function RunSelect({ name, chosen, logs, choose }: RunSelectProps) {
  const options = logs.flatMap(({ title, isOther, runs }) => {
    const starts = runs.starts > 1 ? Array.from({ length: runs.starts }, (_, index) => index + 1) : [];
    return [null, ...starts].map((start) => ({
      run: { isOther, start },
      words: start === null ? title : `${title}, start ${start}`,
    }));
  });
  const index = options.findIndex(({ run }) => run.isOther === chosen.isOther && run.start === chosen.start);
  return (
    <label class="choice">
      <span>{name}</span>
      <select
        value={String(index)}
        onChange={({ currentTarget }) => {
          const option = options[Number(currentTarget.value)];
          if (option !== undefined) choose(option.run);
        }}
      >
        {options.map(({ words }, at) => (
          <option key={words} value={String(at)}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function OtherLog({ take }: { take: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Open the other log
      </button>
      <input
        ref={input}
        type="file"
        accept=".jsonl,.ndjson,.json"
        class="sr-only other-log"
        tabIndex={-1}
        aria-label="The other log file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) take(file);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

interface ConnectionProps {
  readonly compared: ConnectionComparison;
  /** Whether the entries of A and of B are those of this page. */
  readonly isLinked: readonly [boolean, boolean];
}

function Connection({ compared, isLinked }: ConnectionProps) {
  const { name, counts, states, differences, count: total } = compared;
  const { isRaw } = usePage();
  const lane = laneOfConnection(name);
  const title = laneTitle(lane);
  const [a, b] = states.map((state) => (state === null ? 'not there' : stateValueWords(lane, state, isRaw)));
  return (
    <section class="compared" aria-label={title} data-name={name}>
      <h2>{title}</h2>
      <p class="compared-states">
        A: {count(counts[0])} entries, {a} · B: {count(counts[1])} entries, {b}
      </p>
      <ol class="run-differences">
        {differences.map((each, index) => (
          <li key={`${each.a?.position} ${each.b?.position}`}>
            <RunDifferenceRow difference={each} isLinked={isLinked} isFirst={index === 0} />
          </li>
        ))}
      </ol>
      {total > differences.length && <p class="muted">and {count(total - differences.length)} more</p>}
    </section>
  );
}

interface RowProps {
  readonly difference: RunDifference;
  readonly isLinked: ConnectionProps['isLinked'];
  readonly isFirst: boolean;
}

function RunDifferenceRow({ difference: { a, b, changes }, isLinked, isFirst }: RowProps) {
  const { isRaw } = usePage();
  const names = namesOf('connection', isRaw);
  const entry = a ?? b;
  if (entry === null) return null;
  const words = a === null ? 'only in B' : b === null ? 'only in A' : 'other data';
  return (
    <>
      <p class="run-difference">
        {isFirst && <strong>First difference: </strong>}
        <span class={a === null ? 'diff-after' : b === null ? 'diff-before' : ''}>{words}</span>{' '}
        <span title={entry.type}>{names.event(entry.type)}</span> → {stateValueWords('', entry.state, isRaw)}{' '}
        <span class="muted">
          {a !== null && (
            <>
              A <Place entry={a} isLinked={isLinked[0]} />{' '}
            </>
          )}
          {b !== null && (
            <>
              B <Place entry={b} isLinked={isLinked[1]} />
            </>
          )}
        </span>
      </p>
      {changes.length > 0 && (
        <DifferenceTable
          label={`Data of entry ${entry.seq}`}
          columns={['A', 'B']}
          found={changes}
          names={names}
        />
      )}
    </>
  );
}

function Place({ entry: { position, seq }, isLinked }: { entry: ComparedEntry; isLinked: boolean }) {
  return isLinked ? <EntryLink position={position} seq={seq} /> : <>entry {count(seq)}</>;
}
