import { constants } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'

/**
 * TLS settings of the API. It offers TLS 1.3, and for clients whose library has no 1.3 those cipher suites of TLS 1.2
 * that RFC 9325 (section 4.2) recommends: ephemeral keys and authenticated encryption.
 */
export const API_TLS = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    ...['ECDSA', 'RSA'].flatMap((key) => [
      `ECDHE-${key}-AES128-GCM-SHA256`,
      `ECDHE-${key}-AES256-GCM-SHA384`,
      `ECDHE-${key}-CHACHA20-POLY1305`,
    ]),
  ].join(':'),
  // A handshake costs the server more than the client, so there is one per connection.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const satisfies SecureContextOptions
