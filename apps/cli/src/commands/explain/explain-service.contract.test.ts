import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ControllerBed,
  condition,
  ips,
  openControllerBed,
} from '../../../../../packages/intents/service/src/testing/controller-bed.fixture.ts'
import { buildProgram } from '../../program.ts'

let bed: ControllerBed
let token: string
beforeAll(async () => {
  bed = await openControllerBed()
  token = (await bed.spout.login('reader', bed.project.id, 'reader')).token
  await bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

async function explain(args: string, env: Readonly<Record<string, string>> = {}) {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  const known = { KUBECONFIG: bed.cluster.kubeconfigFile, SPOUT_ENDPOINT: bed.endpoint, SPOUT_TOKEN: token, ...env }
  const program = buildProgram({ env: known, colour: false, write, signal: new AbortController().signal })
  const error = await program.parseAsync(['explain', ...args.split(' ')], { from: 'user' }).then(
    () => null,
    (reason: Error) => reason.message,
  )
  return { text, error }
}

test('explain reports that a refused Service has no load balancer, and the reason', async () => {
  await bed.create('refused', {}, { 'spout.dev/address-pool': 'nowhere' })
  await bed.when('refused', 'a refusal', (one) => condition(one)?.reason === 'PoolNotFound')
  const { error } = await explain('lb shop/refused')
  expect(error).toBe(
    'load balancer shop/refused not found; if it is a Kubernetes Service, see spout explain service shop/refused',
  )
  const { text } = await explain('service shop/refused')
  expect(text).toContain(
    'Service shop/refused: not programmed, PoolNotFound. metadata.annotations[spout.dev/address-pool]: No address pool is named "nowhere" for this project.',
  )
  expect(text).toContain('address none')
  expect(text).toContain('It has no load balancer of that name.')
  const alone = await explain('service shop/refused', { SPOUT_ENDPOINT: '' })
  expect(alone.text).toContain('PoolNotFound')
  expect(alone.text).toContain('SPOUT_ENDPOINT is not set')
})

test('one that works is walked to its members; as data with both halves', async () => {
  const one = await bed.create('works')
  bed.confirm(await bed.until('a load balancer', () => bed.documentOf(one)))
  const [address] = ips(await bed.when('works', 'programmed', (now) => condition(now)?.status === 'True'))
  const { text } = await explain('service shop/works')
  expect(text).toMatch(/^Service shop\/works: programmed, Programmed\. /)
  expect(text).toContain(`address ${address}`)
  expect(text).toContain(`client -> ${address}`)
  const data = JSON.parse((await explain('service shop/works --json')).text)
  expect(data).toMatchObject({
    service: { metadata: { namespace: 'shop', name: 'works', uid: one.metadata.uid } },
    loadBalancer: { loadBalancer: { id: bed.documentOf(one)?.id } },
  })
})

test('says why it cannot explain a Service', async () => {
  await bed.api.create('/api/v1/namespaces/shop/services', {
    metadata: { name: 'inside' },
    spec: { ports: [{ port: 80 }] },
  } as never)
  expect((await explain('service shop/inside')).text).toContain('it is of type ClusterIP; only type LoadBalancer')
  expect((await explain('service shop/none')).error).toMatch(/not found/)
  expect((await explain('service a/b/c')).error).toContain('NAMESPACE/NAME')
  expect((await explain('service shop/works', { KUBECONFIG: '' })).error).toContain('--kubeconfig FILE')
})
