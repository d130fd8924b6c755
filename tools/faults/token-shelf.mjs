/** The store of sign-ins that a case starts with tokens in, shared by all its connections. */

export class TokenShelf {
  #given;
  #signIns = new Map();

  /** The same tokens for every server that asks. */
  constructor(tokens = {}) {
    const { expires_in: seconds } = tokens;
    this.#given = { tokens, ...(seconds !== undefined && { expiresAt: Date.now() + seconds * 1_000 }) };
  }

  /** Whether any of the tokens it started with is still kept; undefined where nobody ever asked for them. */
  get areTokensKept() {
    if (this.#signIns.size === 0) return undefined;
    const { access_token: access, refresh_token: refresh } = this.#given.tokens;
    return [...this.#signIns.values()].some(
      ({ tokens }) =>
        tokens !== undefined && (tokens.access_token === access || isSame(tokens.refresh_token, refresh)),
    );
  }

  async read(owner) {
    const key = JSON.stringify(owner);
    if (!this.#signIns.has(key)) this.#signIns.set(key, this.#given);
    return structuredClone(this.#signIns.get(key));
  }

  async write(owner, signIn) {
    this.#signIns.set(JSON.stringify(owner), structuredClone(signIn));
  }

  async forget(owner) {
    this.#signIns.set(JSON.stringify(owner), {});
  }
}

function isSame(token, given) {
  return given !== undefined && token === given;
}
