/**
 * Random secrets around a core of letters and digits, which every encoding except base64 leaves unchanged. If the core
 * does not occur in a text, at most the first and last few characters of the secret do.
 */
import fc from 'fast-check';

export interface Secret {
  readonly text: string;
  readonly core: string;
}

const CORE = fc.stringMatching(/^[a-z0-9]{12}$/);
/** Without backticks: a pair of them is rejected in an entry. */
const PRINTABLE = fc.stringMatching(/^[!-_a-~]{0,6}$/);
const FOREIGN = fc.constantFrom('ключ', 'é', 'пароль!', '🔑', 'ß"', '‰', '密码', '\u00a0', 'ﬁ/');
const LIKE_BASE64 = fc.stringMatching(/^[A-Za-z0-9+/]{2,8}={0,2}$/);
const LIKE_PERCENT = fc.constantFrom('%41', '%2F', '100%', '%%', '%zz');
const WITH_SPACE = fc.constantFrom('a b', '. .', '" "');

const around = (edge: fc.Arbitrary<string>): fc.Arbitrary<Secret> =>
  fc.tuple(edge, CORE, edge).map(([before, core, after]) => ({ text: `${before}${core}${after}`, core }));

/** A secret that fits into a header or an address. */
export const asciiSecret: fc.Arbitrary<Secret> = fc.oneof(
  around(fc.constant('')),
  around(PRINTABLE),
  around(LIKE_BASE64),
  around(LIKE_PERCENT),
);

export const anySecret: fc.Arbitrary<Secret> = fc.oneof(asciiSecret, around(FOREIGN), around(WITH_SPACE));

/** A key of several lines, each with the core. */
export const keyOfLines: fc.Arbitrary<Secret> = CORE.map((core) => ({
  core,
  text: `-----BEGIN KEY-----\n${core}+first/\n${core}=second\n-----END KEY-----\n`,
}));
