const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\]|localhost)$/i;

/** Whether only this computer reaches a host, by its name or address as it stands alone or in a URL. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
