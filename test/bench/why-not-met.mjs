/** Why a target is not met and what was tried, by the words of the target. Shown where it is not met, and only there. */
export const REASONS = {};
