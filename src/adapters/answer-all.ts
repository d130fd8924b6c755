/**
 * Waits for answers that are made side by side and gives them in order. What one of them throws is thrown when all the
 * others are over, so that nothing runs on unseen.
 */
export async function allAnswers<T>(answers: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(answers);
  return Promise.all(answers);
}
