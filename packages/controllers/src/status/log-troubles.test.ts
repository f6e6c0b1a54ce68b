import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, pool, uuid } from '../testing/model.ts'

const N1 = uuid('node', 1)
const LB = uuid('lb', 1)

test('an access log that reaches no receiver is told of on its load balancer until it does', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  const syslog = { address: '10.0.0.9', port: 514, transport: 'tcp' } as const
  const pools = [pool(1, ['10.0.0.11'])]
  const [plain] = loadBalancer(1, { pools }).listeners
  const logging = { ...plain!, name: 'web', accessLog: { format: 'json', syslog } }
  await plane.put(
    ['nodeGroup', nodeGroup(1)],
    ['node', node(1)],
    ['network', network(1)],
    ['loadBalancer', loadBalancer(1, { listeners: [logging], pools })],
    ['loadBalancer', loadBalancer(2, { pools: [pool(2, ['10.0.0.12'])] })],
  )
  const features = ['l4.tcp', 'l7.access-log.syslog']
  await plane.report(N1, { features })
  await plane.confirmAll(N1, { features })
  const told: string[] = []
  plane.status.onChange((kind, id) => {
    if (kind === 'loadBalancer') told.push(id)
  })
  const before = plane.status.summary(LB).serving
  const trouble = { loadBalancerId: LB, listenerId: logging.id, reason: 'Connection refused' }
  // A trouble that names another load balancer does not count for this listener.
  const strange = { ...trouble, loadBalancerId: uuid('lb', 9) }
  await plane.report(N1, { features, logTroubles: [trouble, strange] })
  expect(plane.status.summary(LB).serving).toEqual({
    ...before,
    message: expect.stringMatching(
      /The access log of listener web does not reach 10\.0\.0\.9 from node \S+: Connection refused\.$/,
    ),
  })
  expect(new Set(told)).toEqual(new Set([LB]))
  // A report without `logTroubles` changes nothing.
  await plane.report(N1, { features })
  expect(plane.status.summary(LB).serving).not.toEqual(before)
  await plane.report(N1, { features, logTroubles: [] })
  expect(plane.status.summary(LB).serving).toEqual(before)
  await plane.stop()
})
