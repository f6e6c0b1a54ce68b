import type { CheckType } from '@spout/model/check-kinds'
import type { HealthCheck } from '../contracts/check.ts'
import type { Pinger, ProbePlace, SctpProber, TcpConnector, UdpProber } from './connector.ts'
import { httpCheck } from './http.ts'
import { httpsCheck } from './https.ts'
import { pingCheck } from './ping.ts'
import { sctpCheck } from './sctp.ts'
import { tcpCheck } from './tcp.ts'
import { tlsHelloCheck } from './tls-hello.ts'
import { udpCheck } from './udp.ts'

/** The operations of the native helper that probes use. */
export interface ProbeHelper extends TcpConnector, Pinger, UdpProber, SctpProber {}

/** How members are probed, by kind of check: one for each kind of the model. */
export const PROBES: { readonly [Type in CheckType]: (helper: ProbeHelper, place: ProbePlace) => HealthCheck } = {
  tcp: tcpCheck,
  http: httpCheck,
  https: httpsCheck,
  'tls-hello': tlsHelloCheck,
  ping: pingCheck,
  udp: (helper, place) => udpCheck(helper, place),
  sctp: sctpCheck,
}

export const healthChecks = (helper: ProbeHelper, place: ProbePlace): readonly HealthCheck[] =>
  Object.values(PROBES).map((probe) => probe(helper, place))
