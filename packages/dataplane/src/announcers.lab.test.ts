import { describeAnnouncer } from './announcer-conformance.ts'
import { l2Lab } from './announcers/l2/lab/l2-lab.ts'

describeAnnouncer('l2', l2Lab)
