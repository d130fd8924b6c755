/** What fills the slot of an effect until `provide` does. */
export function notProvided(): Promise<never> {
  return Promise.reject(new Error('this actor slot has no provider'));
}
