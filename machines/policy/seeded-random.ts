/**
 * Randomness as data: the seed goes in, the value and the next seed come out.
 *
 * Owns the generator and the way a connection gets its own seed. The same seed gives the same sequence on every
 * machine and in every version, because a recorded log is replayed with it. Not for secrets.
 *
 * R1. Total: any number is a valid seed, including NaN and the infinities; every seed that comes out is a uint32.
 * R2. The step visits all 2^32 seeds before one returns, and the scrambling maps them one to one.
 */

export interface RandomDraw {
  /** At least 0, below 1, in steps of 2^-32. */
  readonly value: number;
  /** The seed of the next draw. */
  readonly seed: number;
}

/** The nearest odd integer to 2^32 divided by the golden ratio: steps of it spread evenly (a Weyl sequence). */
const STEP = 0x9e3779b9;

/** FNV-1a, 32 bit: offset basis and prime. */
const HASH_START = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

/** The finalizer of MurmurHash3 (32 bit): every input bit reaches every output bit. */
function scramble(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}

/** The seed of one connection: a uint32 that depends on the seed of the whole troupe and on the connection's name. */
export function hashSeed(seed: number, name: string): number {
  const text = `${seed}\0${name}`;
  let hash = HASH_START;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), HASH_PRIME);
  }
  return scramble(hash);
}

/** One draw. */
export function nextRandom(seed: number): RandomDraw {
  const next = (seed + STEP) >>> 0;
  return { value: scramble(next) / 2 ** 32, seed: next };
}
