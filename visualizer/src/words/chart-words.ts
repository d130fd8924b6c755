/** The shape of the words for one chart. */

type Words = Readonly<Record<string, string>>;

/** Words for every name in a chart. A test fails if a name has none, or if two names share theirs. */
export interface ChartWords {
  /** Of the chart itself. */
  readonly title: string;
  /** By the path of the state below the machine, such as `ready.catalog.current`. */
  readonly states: Words;
  /** States in which nothing happens: beside others, they are not mentioned. */
  readonly quiet: readonly string[];
  /** By type, as a fact or a request. */
  readonly events: Words;
  /** By name of the delay, as the rest of 'after'. */
  readonly delays: Words;
  /** By id, as an activity. */
  readonly actors: Words;
  readonly guards: Words;
  readonly actions: Words;
  /** Fields of the context, at any depth. */
  readonly fields: Words;
}
