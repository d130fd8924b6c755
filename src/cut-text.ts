/** Text of a server, short enough to be told: an event goes to every observer, and a server may say any amount. */
const MOST_CHARACTERS = 4_096;

export function cutText(text: string, most = MOST_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}
