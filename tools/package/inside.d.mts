export const INSIDE: readonly string[];
export const INSIDE_COMMONJS: readonly string[];
