/** The oldest version of Node that runs Troupe, as in `engines` of package.json. */
export const OLDEST_NODE = '20.19';

/** What to tell the user of an older version; undefined if the version is new enough. */
export function whyTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `Node ${version} is too old; install version ${OLDEST_NODE} or newer.`;
}
