import { describeAnnouncer } from './announcer-conformance.ts'
import { bgpAnnouncerLab } from './announcers/bgp/lab/announcer-lab.ts'
import { l2Lab } from './announcers/l2/lab/l2-lab.ts'
import { vrrpLab } from './announcers/vrrp/lab/vrrp-lab.ts'

describeAnnouncer('l2', l2Lab)
describeAnnouncer('vrrp', vrrpLab)
describeAnnouncer('bgp', bgpAnnouncerLab)
