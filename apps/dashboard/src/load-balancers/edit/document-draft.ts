import { healthMonitor } from '@spout/model/health-monitor'
import { httpRoute } from '@spout/model/http-route'
import { listener } from '@spout/model/listener'
import { loadBalancer } from '@spout/model/load-balancer'
import { member, pool } from '@spout/model/pool'

/*
 * What people may write: the model's own schemas, of which what has a default may be left out. The server checks more:
 * references, addresses, quotas, and rules across parts.
 */
const routeDraft = httpRoute.partial().required({ action: true })
const listenerDraft = listener
  .extend({ routes: routeDraft.array(), defaultPool: listener.shape.name })
  .partial()
  .required({ protocol: true, port: true })
const memberDraft = member.partial().required({ address: true, port: true })
const monitorDraft = healthMonitor.partial().required({ type: true })
const poolDraft = pool
  .extend({ members: memberDraft.array(), monitor: monitorDraft.nullable() })
  .partial()
  .required({ protocol: true })

export const documentDraft = loadBalancer
  .extend({ listeners: listenerDraft.array(), pools: poolDraft.array() })
  .partial()
