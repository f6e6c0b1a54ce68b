import { describeDriver } from '../testing/driver-conformance.ts'
import { externalLab } from '../testing/external/external-lab.ts'
import { haproxyLab } from '../testing/haproxy/haproxy-lab.ts'
import { forwardingLab, nftablesLab } from '../testing/nftables/nftables-lab.ts'

describeDriver('nftables', nftablesLab)
describeDriver('nftables, forwarding', forwardingLab)
describeDriver('haproxy', haproxyLab)
describeDriver('external', externalLab)
