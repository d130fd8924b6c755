export const IN_THE_CODE: readonly string[];
export const IN_THE_PAGE: readonly string[];
