interface Run {
  readonly token: string;
  readonly pid: string;
  readonly first: number;
  readonly last: number;
}

export function runsOf(text: string): readonly Run[];
export function judge(
  all: readonly Run[],
  since: number,
): {
  readonly overlaps: number;
  readonly togetherMs: number;
  readonly shrunk: number;
  readonly gapsMs: readonly number[];
};
