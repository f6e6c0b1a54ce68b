import { describeAnnouncer } from '../testing/announcer-conformance.ts'
import { bgpAnnouncerLab } from '../testing/bgp/announcer-lab.ts'
import { l2Lab } from '../testing/l2/l2-lab.ts'
import { vrrpLab } from '../testing/vrrp/vrrp-lab.ts'

describeAnnouncer('l2', l2Lab)
describeAnnouncer('vrrp', vrrpLab)
describeAnnouncer('bgp', bgpAnnouncerLab)
