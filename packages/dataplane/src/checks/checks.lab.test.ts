import type { CheckType } from '@spout/model/check-kinds'
import { describeCheck, TIMED_OUT, type Verdicts } from '../testing/check-conformance.ts'
import { PROBES } from './health-checks.ts'

const unreached = { 'is not there': TIMED_OUT, 'has no route': 'network is unreachable' }
const refused = { ...unreached, 'refuses connections': 'connection refused' }
/** For checks that do not read the answer. */
const anyTls = {
  'speaks TLS with a certificate of its own': null,
  'speaks TLS 1.0 alone': null,
  'refuses TLS handshakes': null,
  'sends handshake records without end': null,
  'begins a TLS hello and halts': null,
  'answers over TLS with status 200': null,
  'answers over TLS with status 500': null,
  'wants a certificate of its clients': null,
}

/** A row for each kind of check: the compiler asks for it. */
const VERDICTS: Readonly<Record<CheckType, Verdicts>> = {
  tcp: {
    'answers with status 200': null,
    'answers with status 500': null,
    'answers with something else than HTTP': null,
    'accepts and says nothing': null,
    'accepts and resets': null,
    ...anyTls,
    ...refused,
  },
  http: {
    'answers with status 200': null,
    'answers with status 500': 'status 500, expected 200',
    'answers with something else than HTTP': 'the answer is not HTTP',
    'accepts and says nothing': TIMED_OUT,
    'accepts and resets': 'connection reset',
    'speaks TLS with a certificate of its own': 'closed without an answer',
    'speaks TLS 1.0 alone': 'closed without an answer',
    'refuses TLS handshakes': 'closed without an answer',
    'sends handshake records without end': 'the answer is not HTTP',
    'begins a TLS hello and halts': TIMED_OUT,
    'answers over TLS with status 200': 'closed without an answer',
    'answers over TLS with status 500': 'closed without an answer',
    'wants a certificate of its clients': 'closed without an answer',
    ...refused,
  },
  https: {
    'answers with status 200': 'the answer is not TLS',
    'answers with status 500': 'the answer is not TLS',
    'answers with something else than HTTP': 'the answer is not TLS',
    'accepts and says nothing': TIMED_OUT,
    'accepts and resets': 'connection reset',
    'speaks TLS with a certificate of its own': TIMED_OUT,
    'speaks TLS 1.0 alone': 'refused the TLS handshake (protocol version)',
    'refuses TLS handshakes': 'refused the TLS handshake (handshake failure)',
    'sends handshake records without end': 'TLS failed (too much data)',
    'begins a TLS hello and halts': TIMED_OUT,
    'answers over TLS with status 200': null,
    'answers over TLS with status 500': 'status 500, expected 200',
    'wants a certificate of its clients': 'refused the TLS handshake (certificate required)',
    ...refused,
  },
  'tls-hello': {
    'answers with status 200': 'the answer is not TLS',
    'answers with status 500': 'the answer is not TLS',
    'answers with something else than HTTP': 'the answer is not TLS',
    'accepts and says nothing': TIMED_OUT,
    'accepts and resets': 'connection reset',
    'speaks TLS with a certificate of its own': null,
    'speaks TLS 1.0 alone': null,
    'refuses TLS handshakes': 'refused the TLS handshake (handshake failure)',
    'sends handshake records without end': 'the answer is not TLS',
    'begins a TLS hello and halts': TIMED_OUT,
    'answers over TLS with status 200': null,
    'answers over TLS with status 500': null,
    'wants a certificate of its clients': null,
    ...refused,
  },
  ping: {
    'answers with status 200': null,
    'answers with status 500': null,
    'answers with something else than HTTP': null,
    'accepts and says nothing': null,
    'accepts and resets': null,
    ...anyTls,
    'refuses connections': null,
    ...unreached,
  },
  udp: {
    'answers with status 200': null,
    'answers with status 500': null,
    'answers with something else than HTTP': null,
    'accepts and says nothing': null,
    'accepts and resets': null,
    ...anyTls,
    'refuses connections': 'connection refused',
    // Silence, like that of a service that does not understand the datagram: see the check.
    'is not there': null,
    'has no route': 'network is unreachable',
  },
  sctp: {
    'answers with status 200': null,
    'answers with status 500': null,
    'answers with something else than HTTP': null,
    'accepts and says nothing': null,
    'accepts and resets': null,
    ...anyTls,
    ...unreached,
    'refuses connections': 'refused the association',
  },
}

for (const [type, verdicts] of Object.entries(VERDICTS) as [CheckType, Verdicts][])
  describeCheck(type, PROBES[type], verdicts)
