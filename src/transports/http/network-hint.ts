/** What helps where no reply came, by the code of the network error. */
import type { RawFailure } from '../session-transport.js';

type Hint = Pick<RawFailure, 'hint'>;

/** Where no connection could be made. */
export function connectHint(code: string): Hint {
  if (code === 'ECONNREFUSED') return { hint: 'Nothing listens there. Is the server running?' };
  if (code === 'ENOTFOUND')
    return { hint: 'The name of the host is unknown. Check its spelling and the network.' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return { hint: "The certificate is for another name. Check the host in 'url'." };
  if (/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) {
    return {
      hint: 'The certificate is not valid at this time. Renew it, or correct the clock of this machine.',
    };
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return {
      hint: 'The certificate is not trusted. NODE_EXTRA_CA_CERTS can name the authority that issued it.',
    };
  }
  if (/^(EPROTO|ERR_SSL)/.test(code))
    return { hint: "The server may not speak TLS there: try 'http:' in 'url'." };
  return {};
}

/** Where there was a connection. */
export function replyHint(code: string): Hint {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      hint: 'The headers of the reply are too long; --max-http-header-size of Node lets in longer ones.',
    };
  }
  return code.startsWith('HPE_') ? { hint: "What came is not valid HTTP. Check the port in 'url'." } : {};
}
