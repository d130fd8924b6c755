/** The token store of a case with its initial tokens, shared by all connections. */

export class TokenShelf {
  #given;
  #signIns = new Map();

  /** Returns the same tokens for every server. */
  constructor(tokens = {}) {
    const { expires_in: seconds } = tokens;
    this.#given = { tokens, ...(seconds !== undefined && { expiresAt: Date.now() + seconds * 1_000 }) };
  }

  /** Whether any of the initial tokens is still kept; undefined if they were never read. */
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
