import { describeCheck, TIMED_OUT } from './check-conformance.ts'
import { HttpCheck } from './checks/http.ts'
import { PingCheck } from './checks/ping.ts'
import { TcpCheck } from './checks/tcp.ts'
import { UdpCheck } from './checks/udp.ts'

const unreached = { 'is not there': TIMED_OUT, 'has no route': 'network is unreachable' }
const refused = { ...unreached, 'refuses connections': 'connection refused' }

describeCheck('tcp', (helper, place) => new TcpCheck(helper, place), {
  'answers with status 200': null,
  'answers with status 500': null,
  'answers with something else than HTTP': null,
  'accepts and says nothing': null,
  'accepts and resets': null,
  ...refused,
})
describeCheck('http', (helper, place) => new HttpCheck(helper, place), {
  'answers with status 200': null,
  'answers with status 500': 'status 500, expected 200',
  'answers with something else than HTTP': 'the answer is not HTTP',
  'accepts and says nothing': TIMED_OUT,
  'accepts and resets': 'connection reset',
  ...refused,
})
describeCheck('ping', (helper, place) => new PingCheck(helper, place), {
  'answers with status 200': null,
  'answers with status 500': null,
  'answers with something else than HTTP': null,
  'accepts and says nothing': null,
  'accepts and resets': null,
  'refuses connections': null,
  ...unreached,
})
describeCheck('udp', (helper, place) => new UdpCheck(helper, place), {
  'answers with status 200': null,
  'answers with status 500': null,
  'answers with something else than HTTP': null,
  'accepts and says nothing': null,
  'accepts and resets': null,
  'refuses connections': 'connection refused',
  // Silence, as of a service that does not understand: see the check.
  'is not there': null,
  'has no route': 'network is unreachable',
})
