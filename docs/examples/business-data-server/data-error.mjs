/** The data cannot be used. The message is for clients: it names categories, fields and records, and has no path. */
export class DataError extends Error {}
