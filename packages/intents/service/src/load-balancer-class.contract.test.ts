import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControllerBed, condition, ips, openControllerBed } from './testing/controller-bed.fixture.ts'

let bed: ControllerBed
let running: Awaited<ReturnType<ControllerBed['start']>>
beforeAll(async () => {
  bed = await openControllerBed()
  running = await bed.start()
})
afterAll(() => bed.close())

type Shown = Awaited<ReturnType<ControllerBed['get']>>
const hasIp = (one: Shown) => ips(one).length > 0
const isRefusedFor = (reason: string) => (one: Shown) => condition(one)?.reason === reason
const newClass = async (name: string, fields: object = {}) =>
  (await bed.spout.admission.createLoadBalancerClass({ name, ...fields })).id
const reasonsOf = (name: string) =>
  running.events.filter(({ service }) => service === name).map(({ event }) => event.reason)

test('a Service is of the class that it names', async () => {
  const gold = await newClass('gold')
  const named = await bed.create('named', { loadBalancerClass: 'spout.dev/gold' })
  await bed.when('named', 'an address', hasIp)
  expect(bed.documentOf(named)).toMatchObject({ classId: gold })
  const byId = await bed.create('by-id', { loadBalancerClass: `spout.dev/${gold}` })
  await bed.when('by-id', 'an address', hasIp)
  expect(bed.documentOf(byId)).toMatchObject({ classId: gold })
  const plain = await bed.create('plain', { loadBalancerClass: 'spout.dev/load-balancer' })
  await bed.when('plain', 'an address', hasIp)
  expect(bed.documentOf(plain)).not.toHaveProperty('classId')
  const foreign = await bed.create('foreign', { loadBalancerClass: 'example.org/gold' })
  expect(bed.documentOf(foreign)).toBeUndefined()
  expect((await bed.get('foreign')).status?.conditions ?? []).toEqual([])
})

test('a class is chosen once: the API server keeps the field, and a renamed class its load balancers', async () => {
  const id = await newClass('first')
  const one = await bed.create('kept', { loadBalancerClass: 'spout.dev/first' })
  await bed.when('kept', 'an address', hasIp)
  await expect(bed.change('kept', { spec: { loadBalancerClass: 'spout.dev/gold' } })).rejects.toThrow(
    /may not change once set/,
  )
  const before = bed.documentOf(one)
  await bed.spout.admission.changeLoadBalancerClass(id, { name: 'second', enabled: false })
  await bed.change('kept', {
    spec: {
      ports: [
        { name: 'http', protocol: 'TCP', port: 80, targetPort: 9090 },
        { name: 'more', protocol: 'TCP', port: 81, targetPort: 9091 },
      ],
    },
  })
  await bed.until('the new port', () => bed.documentOf(one)?.listeners.length === 2)
  expect(bed.documentOf(one)).toMatchObject({ id: before?.id, classId: id, vips: before?.vips })
})

test.each([
  ['unknown', async () => {}, 'UnknownLoadBalancerClass', 'no class of load balancers named "unknown"'],
  [
    'theirs',
    () => newClass('theirs', { projectIds: [bed.stranger.id] }),
    'UnknownLoadBalancerClass',
    'no class of load balancers named "theirs"',
  ],
  ['closed', () => newClass('closed', { enabled: false }), 'LoadBalancerClassDisabled', '"closed" is disabled'],
  [
    'full',
    async () => bed.spout.admission.setQuota(bed.project.id, {}, { [await newClass('full')]: 0 }),
    'OverQuota',
    'Quota for load balancers of class full is 0, 0 in use, 1 more wanted',
  ],
] as const)('class %s is refused with its reason, and nothing is made', async (name, prepare, reason, message) => {
  await prepare()
  const one = await bed.create(name, { loadBalancerClass: `spout.dev/${name}` })
  const shown = await bed.when(name, 'a refusal', isRefusedFor(reason))
  expect(condition(shown)).toMatchObject({ status: 'False', message: expect.stringContaining(message) })
  expect(hasIp(shown)).toBe(false)
  expect(bed.documentOf(one)).toBeUndefined()
  await bed.until('an event', () => reasonsOf(name).includes(reason))
  await bed.remove(name)
  await bed.gone(name)
})

test('Services share an address within one class alone', async () => {
  const gold = bed.spout.view.list('loadBalancerClass').find(({ name }) => name === 'gold')!.id
  const shared = { 'spout.dev/allow-shared-ip': 'together' }
  const port = (number: number) => [{ name: 'p', protocol: 'TCP', port: number, targetPort: 8080 }]
  const made = [
    await bed.create('s1', { loadBalancerClass: 'spout.dev/gold', ports: port(81) }, shared),
    await bed.create('s2', { loadBalancerClass: 'spout.dev/gold', ports: port(82) }, shared),
    await bed.create('s3', { ports: port(83) }, shared),
  ]
  for (const name of ['s1', 's2', 's3']) await bed.when(name, 'an address', hasIp)
  const [first, second, third] = made.map((one) => bed.documentOf(one))
  expect(second?.id).toBe(first?.id)
  expect(first?.classId).toBe(gold)
  expect(third?.id).not.toBe(first?.id)
  expect(third).not.toHaveProperty('classId')
})

test('a Service that named another class while nobody looked gets a load balancer of that one', async () => {
  const silver = await newClass('silver')
  const one = await bed.create('turned', { loadBalancerClass: 'spout.dev/gold' })
  await bed.when('turned', 'an address', hasIp)
  await running.stop()
  await bed.change('turned', { spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, nodePort: null }] } })
  await bed.change('turned', { spec: { type: 'LoadBalancer', loadBalancerClass: 'spout.dev/silver' } })
  running = await bed.start()
  await bed.until('a load balancer of the other class', () => bed.documentOf(one)?.classId === silver)
})

test.each([
  ['unknown-2', async () => {}, 'UnknownLoadBalancerClass'],
  [
    'full-2',
    async () => bed.spout.admission.setQuota(bed.project.id, {}, { [await newClass('full-2')]: 0 }),
    'OverQuota',
  ],
] as const)(
  'a Service that named class %s while nobody looked keeps what it had, and says why',
  async (name, prepare, reason) => {
    await prepare()
    const service = `to-${name}`
    const one = await bed.create(service, { loadBalancerClass: 'spout.dev/gold' })
    await bed.when(service, 'an address', hasIp)
    const before = bed.documentOf(one)
    await running.stop()
    await bed.change(service, { spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, nodePort: null }] } })
    await bed.change(service, { spec: { type: 'LoadBalancer', loadBalancerClass: `spout.dev/${name}` } })
    running = await bed.start()
    const shown = await bed.when(service, 'a refusal', isRefusedFor(reason))
    expect(condition(shown)).toMatchObject({ status: 'False' })
    expect(bed.documentOf(one)).toMatchObject({ id: before?.id, classId: before?.classId, vips: before?.vips })
  },
)
