import { hostname } from 'node:os'
import { EventRecorder, KubeClient, type Transport } from '@spout/kube'
import type { Logger } from '@spout/runtime'

/** Writes the events of one of the two programs, such as `connector`, as `spout.dev/connector` on this machine. */
export const eventsOf = (program: 'connector' | 'configuration', transport: Transport, log: Logger): EventRecorder =>
  new EventRecorder({
    client: new KubeClient(transport),
    reportingController: `spout.dev/${program}`,
    reportingInstance: hostname(),
    log,
  })
