export interface Outcome {
  readonly outcome: 'succeeded' | 'not-delivered' | 'unknown' | 'gave-up' | 'unclear';
  readonly about: string | undefined;
  readonly isSessionOver?: boolean;
}

export function outcomeOfResult(result: object, id: string): Outcome;
export function outcomeOfError(error: object): Outcome;
