import { describeDriver } from './driver-conformance.ts'
import { haproxyLab } from './drivers/haproxy/lab/haproxy-lab.ts'
import { forwardingLab, nftablesLab } from './drivers/nftables/lab/nftables-lab.ts'

describeDriver('nftables', nftablesLab)
describeDriver('nftables, forwarding', forwardingLab)
describeDriver('haproxy', haproxyLab)
