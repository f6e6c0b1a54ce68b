import type { TlsFailure } from '@spout/sys'

/** RFC 8446 section 6: alerts that may answer a ClientHello, or a client that sends no certificate. */
const ALERTS: Readonly<Record<number, string>> = {
  0: 'close notify',
  10: 'unexpected message',
  40: 'handshake failure',
  42: 'bad certificate',
  47: 'illegal parameter',
  50: 'decode error',
  70: 'protocol version',
  71: 'insufficient security',
  80: 'internal error',
  109: 'missing extension',
  110: 'unsupported extension',
  112: 'unrecognized name',
  116: 'certificate required',
  120: 'no application protocol',
}

/** @param alert its number */
export const refusedBy = (alert: number): string => `refused the TLS handshake (${ALERTS[alert] ?? `alert ${alert}`})`

/**
 * Describes a failure for people. It contains no text of the member: an alert is a number, and the reason is OpenSSL's.
 */
export function describeFailure({ alert, reason }: TlsFailure): string {
  if (alert !== null) return refusedBy(alert)
  return reason === 'wrong version number' ? 'the answer is not TLS' : `TLS failed (${reason})`
}
