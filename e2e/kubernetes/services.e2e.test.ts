import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtPage, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENT } from '../fixtures.ts'
import { startConnector } from './connectors.ts'
import { restartControllers } from './controllers.ts'
import { askPolitely } from './polite-client.ts'
import { type PodAnswer, type ServiceLab, startServiceLab } from './service-lab.ts'
import { headerIn, startToldServers, TOLD } from './told-pods.ts'
import { startWorkload } from './workloads.ts'

/** An SCTP endpoint over raw sockets: the lab's kernel has no SCTP. */
const SCTP_ENDPOINT = fileURLToPath(new URL('../../packages/dataplane/src/testing/sctp_peer.py', import.meta.url))

let lab: ServiceLab
beforeAll(async () => {
  builtPage()
  lab = await startServiceLab()
  await startWorkload(lab, { name: 'web', replicas: 3 })
}, 900_000)
afterAll(() => lab?.destroy())

const podsOf = (answers: readonly (PodAnswer | null)[]) =>
  [...new Set(answers.map((one) => one?.pod ?? 'nobody'))].sort()
const names = async (app: string) => (await lab.cluster.pods(`app=${app}`)).map(({ metadata }) => metadata.name).sort()

async function times<T>(count: number, what: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = []
  for (let left = count; left > 0; left--) all.push(await what())
  return all
}

describe('Services of type LoadBalancer on a real Kubernetes', () => {
  it('reaches the pods of all nodes directly, without node ports, and they see the client (points 18, 19)', async () => {
    await lab.expose('direct', 'web', { allocateLoadBalancerNodePorts: false })
    const address = await lab.answering('direct')
    await waitFor(async () => podsOf(await times(30, () => lab.ask(address))).join() === (await names('web')).join(), {
      what: 'every pod to answer',
    })
    const answers = await times(10, () => lab.ask(address))
    expect(new Set(answers.map((one) => one?.client.replace('::ffff:', '')))).toEqual(new Set([CLIENT]))
    await waitFor(
      async () =>
        (await lab.service('direct')).status?.conditions?.some(
          ({ type, status }) => type === 'spout.dev/Programmed' && status === 'True',
        ),
      { what: 'the condition to say so' },
    )
  })

  it('says where the web page shows it, which is there', async () => {
    await lab.expose('linked', 'web')
    await lab.answering('linked')
    const link = await waitFor(
      async () => {
        const { conditions = [] } = (await lab.service('linked')).status ?? {}
        const programmed = conditions.find(({ type, status }) => type === 'spout.dev/Programmed' && status === 'True')
        return programmed?.message?.split(' ').at(-1)
      },
      { what: 'the condition to have a link' },
    )
    const page = await fetch(link)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
    const address = lab.addressOf(await lab.service('linked'))
    const shown = (await lab.loadBalancers()).find(({ id }) => link.endsWith(`/ui/load-balancers/${id}`))
    expect(shown?.vips.map((vip) => vip.address)).toEqual([address])
  })

  it('goes from endpoints to node ports and back without a failed request; policy Local keeps to nodes with endpoints (points 19, 20)', async () => {
    await lab.expose('moving', 'web')
    const address = await lab.answering('moving')
    const nodePort = (await lab.service('moving')).spec.ports[0]?.nodePort
    // kube-proxy needs time for a new Service.
    for (const node of ['10.0.0.32', '10.0.0.33'])
      await waitFor(
        async () =>
          (await lab.system.lab.run('worker1', ['curl', '-sf', '-m', '1', `http://${node}:${nodePort}/`])).code === 0,
        { what: `the node port on ${node}` },
      )
    const asking = askPolitely(lab.client, address)
    const [before] = (await lab.loadBalancers()).filter(({ vips }) => vips[0]?.address === address)
    const members = async () =>
      (await lab.loadBalancers())
        .find(({ id }) => id === before?.id)
        ?.pools.flatMap((pool) => pool.members.map((member) => member.address))
    await lab.change('moving', { metadata: { annotations: { 'spout.dev/mode': 'node-ports' } } })
    await waitFor(async () => (await members())?.join() === '10.0.0.32,10.0.0.33', { what: 'the nodes as members' })
    await times(50, () => lab.ask(address))
    await lab.change('moving', { metadata: { annotations: { 'spout.dev/mode': null } } })
    await waitFor(async () => (await members())?.every((one) => one.startsWith('10.244.')), { what: 'the pods' })
    const { failed } = await asking.stop()
    expect(failed).toEqual([])

    await startWorkload(lab, { name: 'single', replicas: 1 })
    await lab.expose('local', 'single', { externalTrafficPolicy: 'Local' }, { 'spout.dev/mode': 'node-ports' })
    const local = await lab.answering('local')
    const [pod] = await lab.cluster.pods('app=single')
    const answers = await waitFor(
      async () => {
        const all = await times(20, () => lab.ask(local))
        return all.every((one) => one !== null) && all
      },
      { what: 'the node without endpoints to be out' },
    )
    expect(new Set(answers.map((one) => one?.node))).toEqual(new Set([pod?.spec.nodeName]))
    expect(answers[0]?.client.replace('::ffff:', '')).toBe(CLIENT)
  })

  it('a pod reaches the address (point 24)', async () => {
    const address = await lab.answering('direct')
    const [pod] = await lab.cluster.pods('app=web')
    const place = lab.cluster.podPlace(pod!)
    const { stdout } = await lab.system.lab.run(place, ['curl', '-sf', '-m', '3', `http://${address}/`])
    expect((JSON.parse(stdout) as PodAnswer).pod).toMatch(/^web-/)
  })

  it('carries SCTP to the pods that take up associations (point 16)', async () => {
    const pods = await startWorkload(lab, { name: 'signalling', replicas: 2 })
    const places = pods.map((pod) => lab.cluster.podPlace(pod))
    const serve = (place: string) =>
      lab.system.lab.start(place, `sctp-${place}`, ['python3', SCTP_ENDPOINT, 'serve', place, '3900'], {
        readyText: 'ready',
      })
    const [first] = await Promise.all(places.map(serve))
    // As for Diameter: one number over both protocols.
    const ports = (['SCTP', 'TCP'] as const).map((protocol) => ({
      ...{ name: protocol.toLowerCase(), port: 3868, protocol, targetPort: protocol === 'SCTP' ? 3900 : 8080 },
    }))
    await lab.expose('signalling', 'signalling', { ports })
    const address = await waitFor(async () => lab.addressOf(await lab.service('signalling')) || null, {
      what: 'an address',
    })
    expect((await lab.service('signalling')).spec.ports).toHaveLength(2)
    let sourcePort = 41_000
    const askedPod = async () => {
      const words = ['python3', SCTP_ENDPOINT, 'ask', address, '3868', String(sourcePort++), '5']
      const answer = JSON.parse(await lab.system.lab.must('client', words)) as { readonly line?: string }
      return answer.line?.split(' ')[0] ?? 'nobody'
    }
    const asked = async () => [...new Set(await Promise.all(Array.from({ length: 12 }, askedPod)))].sort()
    await waitFor(async () => (await asked()).join() === [...places].sort().join(), {
      what: 'both pods to take up associations',
      timeoutMs: 60_000,
    })
    await lab.system.lab.stop(first!, 'SIGKILL')
    await waitFor(async () => (await asked()).join() === places[1], {
      what: 'the pod that takes up none to be out',
      timeoutMs: 60_000,
    })
    await serve(places[0]!)
    await waitFor(async () => (await asked()).length === 2, { what: 'it to be in again', timeoutMs: 60_000 })
  })

  it('goes on with the API server and the connector away, and afterwards follows again (points 7, 36)', async () => {
    const address = await lab.answering('direct')
    const asking = askPolitely(lab.client, address)
    await lab.cluster.controlPlane.stopApiServer()
    await lab.stopConnector()
    await times(100, () => lab.ask(address))
    await lab.cluster.controlPlane.startApiServer()
    await Promise.all([restartControllers(lab), lab.startConnector()])
    const [shown] = (await lab.loadBalancers()).filter(({ vips }) => vips[0]?.address === address)
    const { length: replicas } = await lab.cluster.pods('app=web')
    // A pod serves for eight seconds after it was told to end: all between it and the load balancer must follow again by then.
    for (const count of [replicas + 1, replicas]) {
      await lab.cluster.api.patch('/apis/apps/v1/namespaces/default/deployments/web', { spec: { replicas: count } })
      await waitFor(
        async () => (await lab.system.loadBalancer(lab.tenant, shown!.id)).pools[0]?.members.length === count,
        { what: `${count} pods to be members`, timeoutMs: 90_000 },
      )
    }
    await waitFor(async () => (await names('web')).length === replicas, { what: 'the pod to have ended' })
    await times(50, () => lab.ask(address))
    const { failed } = await asking.stop()
    expect(failed).toEqual([])
    expect(lab.addressOf(await lab.service('direct'))).toBe(address)
  })

  it('an external IP out of the allowed prefixes answers and goes with the field; what somebody has is not taken (point 37)', async () => {
    await lab.stopConnector()
    await startConnector(lab, { set: ['services.externalIPs=[198.51.100.240/28]'] })
    const external = '198.51.100.241'
    const address = await lab.answering('direct')
    await lab.expose('external', 'web', { externalIPs: [external, '192.0.2.7'] })
    await lab.answering('external')
    await waitFor(async () => (await lab.ask(external)) !== null, { what: 'the external IP to answer' })
    expect((await lab.ask(external))?.client.replace('::ffff:', '')).toBe(CLIENT)
    await lab.expose('thief', 'web', {
      externalIPs: [external],
      ports: [{ name: 'http', port: 8081, targetPort: 'http' }],
    })
    const refused = await waitFor(
      async () =>
        (await lab.service('thief')).status?.conditions?.find(({ type }) => type === 'spout.dev/ExternalIPs') ?? false,
      { what: 'a refusal' },
    )
    expect(refused).toMatchObject({
      status: 'False',
      reason: 'AddressTaken',
      message: `${external}: it is already in use`,
    })
    expect(await lab.client.http(external, 8081, { timeoutMs: 500 })).toMatchObject({ ok: false })
    await lab.change('external', { spec: { externalIPs: null } })
    await waitFor(async () => !(await lab.client.http(external, 80, { timeoutMs: 500 })).ok, {
      what: 'the external IP to be let go',
    })
    expect(await lab.ask(address)).not.toBeNull()
  })
})

describe('ports that the proxy carries', () => {
  const curl = async (place: string, ...words: readonly string[]) => {
    const argv = ['curl', '--silent', '--fail', '--max-time', '5', ...words]
    const { code, stdout } = await lab.system.lab.run(place, argv)
    return code === 0 ? stdout : ''
  }
  const soon = <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 60_000 })
  const placeOfPod = async (app: string) => {
    const [pod] = await lab.cluster.pods(`app=${app}`)
    return { place: lab.cluster.podPlace(pod!), own: [pod?.status?.podIP, '10.0.0.32', '10.0.0.33'] }
  }
  const address = (name: string) =>
    soon(`${name} to have an address`, async () => lab.addressOf(await lab.service(name)) || null)

  it('tell endpoints of clients by the PROXY protocol, in both versions, behind node ports, and of pods', async () => {
    const [pod] = await startWorkload(lab, { name: 'told', replicas: 1 })
    await startToldServers(lab, pod!)
    const ports = [
      { name: 'http', port: 80, targetPort: TOLD.http, protocol: 'TCP' },
      { name: 'bytes', port: 81, targetPort: TOLD.bytes, protocol: 'TCP' },
    ]
    await lab.expose('told', 'told', { ports }, { 'spout.dev/proxy-protocol': 'v1' })
    const vip = await address('told')
    /** What HAProxy understood, and the header as it was received. */
    const heard = async (place = 'client') => [
      await curl(place, `http://${vip}/`),
      headerIn(await curl(place, `http://${vip}:81/`)).replace(/ \d+ 81$/, ''),
    ]
    const untilTold = (version: string) =>
      soon(`header ${version}`, async () => {
        const [http, bytes] = await heard()
        return http === `${CLIENT} ${vip} 80` && bytes === `${version} TCP4 ${CLIENT} ${vip}`
      })
    await untilTold('v1')
    await lab.change('told', { metadata: { annotations: { 'spout.dev/proxy-protocol': 'v2' } } })
    await untilTold('v2')

    // kube-proxy would lead a pod past the proxy, and HAProxy would refuse it.
    const { place, own } = await placeOfPod('web')
    const byPod = await soon('a pod to be told of', async () => {
      const [http = '', bytes = ''] = await heard(place)
      return http.endsWith(` ${vip} 80`) && bytes.startsWith('v2 TCP4 ') && http
    })
    expect(own).toContain(byPod.split(' ')[0])
    const { status } = await lab.service('told')
    expect(status?.loadBalancer?.ingress).toEqual([{ ip: vip, ipMode: 'Proxy' }])

    // Behind node ports kube-proxy hides the client from whoever is not told.
    await lab.change('told', { metadata: { annotations: { 'spout.dev/mode': 'node-ports' } } })
    const members = async () =>
      (await lab.loadBalancers())
        .find(({ vips }) => vips[0]?.address === vip)
        ?.pools.flatMap((pool) => pool.members.map((member) => member.address)) ?? []
    await soon(
      'the nodes as members',
      async () => (await members()).join() === [1, 2].flatMap(() => own.slice(1)).join(),
    )
    await untilTold('v2')

    await lab.change('told', { metadata: { annotations: { 'spout.dev/proxy-protocol': null } } })
    await soon('no header', async () => (await heard())[1] === 'none')
    expect(lab.addressOf(await lab.service('told'))).toBe(vip)
  })

  it('end TLS with the certificate of a Secret, those that are named alone, also for pods; it is renewed under load', async () => {
    const authority = issueCertificate({ isAuthority: true, commonName: 'lab authority' })
    const caFile = path.join(lab.system.lab.directory, 'service-ca.pem')
    writeFileSync(caFile, authority.certificate)
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const renew = () => {
      const { certificate, key } = issueCertificate({ names: ['ended.example.org'], issuer: authority })
      return lab.cluster.api.apply('/api/v1/namespaces/default/secrets/ended', {
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ended' }, type: 'kubernetes.io/tls' },
        data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
      })
    }
    await renew()
    const ports = [
      { name: 'https', port: 443, targetPort: 'http', protocol: 'TCP' },
      { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' },
    ]
    const annotations = { 'spout.dev/tls-secret': 'ended', 'spout.dev/tls-ports': 'https' }
    await lab.expose('ended', 'web', { ports }, annotations)
    const vip = await address('ended')
    const overTls = (place: string, host = 'ended.example.org') =>
      curl(place, '--cacert', caFile, '--resolve', `${host}:443:${vip}`, `https://${host}/`)
    const answer = JSON.parse(
      await soon('an answer over TLS', async () => (await overTls('client')) || null),
    ) as PodAnswer
    expect(answer.pod).toMatch(/^web-/)
    expect((await lab.ask(vip))?.client.replace('::ffff:', '')).toBe(CLIENT)
    expect(await overTls('client', 'other.example.org')).toBe('')
    expect(await curl('client', `http://${vip}:443/`)).toBe('')
    const { place } = await placeOfPod('web')
    await soon('an answer to a pod', async () => (await overTls(place)) || null)

    const serial = async () => {
      const asked = `openssl s_client -connect ${vip}:443 -servername ended.example.org </dev/null`
      const words = ['sh', '-c', `${asked} 2>/dev/null | openssl x509 -noout -serial`]
      return lab.system.lab.must('client', words)
    }
    const before = await serial()
    let failed = 0
    let asking = true
    const load = (async () => {
      while (asking) if ((await overTls('client')) === '') failed++
    })()
    await renew()
    await soon('the next certificate', async () => (await serial()) !== before)
    asking = false
    await load
    expect(failed).toBe(0)
  })
})
