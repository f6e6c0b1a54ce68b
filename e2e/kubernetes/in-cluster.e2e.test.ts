import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Finding } from '@spout/runtime/findings'
import {
  documented,
  type Kubernetes,
  LONGEST_BUILD_MS,
  must,
  productUnit,
  recordFault,
  run,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Clients } from '../kept-alive.ts'
import { type InClusterLab, startInClusterLab, WORKERS } from './in-cluster-lab.ts'
import { answersByClusterIp, answersToOnePort, OTHER_PROXIES, proxyRules, replaceProxies } from './kube-proxies.ts'
import { withoutFigures } from './page-lines.ts'
import { askPolitely } from './polite-client.ts'
import { seenClients } from './seen-clients.ts'
import { type BalancedService, serviceBody, servicesIn } from './services.ts'
import { startWorkload } from './workloads.ts'

let lab: InClusterLab
beforeAll(async () => {
  lab = await startInClusterLab()
  lab.page.leaveOut('docker', 'there is neither a container engine nor a registry; the lab has what both would bring')
  for (const withoutHelm of ['sed', 'kubectl apply --filename spout.yaml'])
    lab.page.leaveOut(withoutHelm, 'the chart is installed; its objects are those of the file (chart.contract.test.ts)')
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

const nameOf = ({ metadata }: Kubernetes.Pod): string => metadata.name
const nodeAddress = (name: string): string => lab.cluster.node(name).addresses[0]

/** Types a command of the page until it prints what the page shows, but for figures. */
async function shows(beginning: string): Promise<void> {
  const { command, printed } = lab.page.take(beginning)
  const said = async () => withoutFigures((await lab.shell(command)).stdout)
  await expect.poll(said, { timeout: 60_000 }).toEqual(withoutFigures(printed.join('\n')))
}

/** Deletes a pod and waits for its replacement. */
async function replace(component: string, pod: Kubernetes.Pod, count: number): Promise<void> {
  await lab.cluster.api.delete(`/api/v1/namespaces/spout/pods/${pod.metadata.name}`)
  await waitFor(async () => (await lab.pods(component)).every(({ metadata }) => metadata.uid !== pod.metadata.uid), {
    what: `${pod.metadata.name} to go`,
    timeoutMs: 40_000,
  })
  await lab.ready(component, count)
}

const selectorless = (name: string, port: number) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' } },
  spec: { type: 'LoadBalancer', ports: [{ port, targetPort: port, protocol: 'TCP' }] },
})
/** An EndpointSlice written by a user. */
const handMade = (service: string, address: string, port: number, manager: string | null) => ({
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
  metadata: {
    name: `${service}-${manager ?? 'nobody'}-${address.replaceAll('.', '-')}`.slice(0, 60),
    namespace: 'default',
    labels: {
      'kubernetes.io/service-name': service,
      ...(manager === null ? {} : { 'endpointslice.kubernetes.io/managed-by': manager }),
    },
  },
  ports: [{ port, protocol: 'TCP' }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
})
interface ShownMembers extends Kubernetes.KubernetesObject {
  readonly spec: { readonly name: string }
  readonly status?: { readonly members?: { readonly total: number } }
}

describe('Spout in the cluster that it serves', () => {
  it('comes up by helm install alone: nobody hands a token to anybody', async () => {
    await lab.page.type('helm install')
    await lab.allReady()
    const secrets = await lab.cluster.api.list<{ readonly type: string }>('/api/v1/namespaces/spout/secrets')
    expect(secrets.items.filter(({ type }) => type !== 'helm.sh/release.v1')).toEqual([])
    // It does not run as root.
    expect(statSync(path.join(lab.volume, 'spout.db')).uid).toBe(10_001)
  })

  it('the agents, whose container is privileged, have given up what their unit does not grant', async () => {
    // linux/capability.h
    const kept = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n }
    const never = {
      CAP_SYS_MODULE: 16n,
      CAP_SYS_RAWIO: 17n,
      CAP_SYS_BOOT: 22n,
      CAP_SYS_TIME: 25n,
      CAP_MKNOD: 27n,
      CAP_BPF: 39n,
    }
    const { capabilities } = productUnit('agent')
    expect(capabilities).toEqual(expect.arrayContaining(Object.keys(kept)))
    for (const worker of WORKERS) {
      const pids = (await must(['ip', 'netns', 'pids', lab.lab.namespace(worker)])).split(/\s+/).filter(Boolean)
      const read = (pid: string, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8')
      const agents = pids.filter((pid) => read(pid, 'cmdline').includes('/apps/agent/src/main.ts'))
      expect(agents).toHaveLength(1)
      const status = read(agents[0]!, 'status')
      const bounding = BigInt(`0x${/^CapBnd:\t([0-9a-f]+)$/m.exec(status)?.[1] ?? ''}`)
      const has = (bits: Readonly<Record<string, bigint>>) =>
        Object.keys(bits).filter((name) => ((bounding >> bits[name]!) & 1n) === 1n)
      expect([has(kept), has(never)]).toEqual([Object.keys(kept), []])
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    }
  })

  it('one pool and a Service of type LoadBalancer: a client outside gets answers from pods of all nodes', async () => {
    await startWorkload(lab, { name: 'web', replicas: 4 })
    await lab.apply(documented('kubernetes-in-cluster.md', 'kind: AddressPool'))
    await lab.apply(documented('kubernetes-in-cluster.md', 'kind: Service'))
    await shows('kubectl get pods --namespace spout')
    await shows('kubectl wait')
    const address = await lab.answering('web')
    await shows('kubectl get service web')
    expect(address).toBe('198.51.100.16')
    // Each sees the node that the packet came through, by that node's address.
    const seen = await seenClients(lab, 'web')
    const owner = await lab.owner('default/web')
    const gateways = lab.cluster.nodes.map(({ network }) => network.podCidrs[0].replace(/0\/24$/, '1'))
    for (const client of seen) expect([nodeAddress(owner), ...gateways]).toContain(client)
    await waitFor(
      async () =>
        (await lab.service('web')).status?.conditions?.some(
          ({ type, status }) => type === 'spout.dev/Programmed' && status === 'True',
        ),
      { what: 'the Service to say so' },
    )
    await shows('kubectl get service web -o jsonpath')
  })

  it('doctor finds nothing wrong with the cluster', async () => {
    const look = async () => {
      const { code, stdout } = await lab.shell('spout doctor --all -o json --kubeconfig "$KUBECONFIG"')
      const findings = JSON.parse(stdout) as readonly Finding[]
      return {
        code,
        findings,
        wrong: findings.flatMap((one) => (one.level === 'ok' ? [] : `${one.level} ${one.code}`)),
      }
    }
    // The lab's kube-proxy is a process of the node.
    const right = { code: 0, wrong: ['notice KubeProxyUnseen'] }
    await expect.poll(look, { timeout: 30_000 }).toMatchObject(right)
    expect((await look()).findings).toContainEqual(
      expect.objectContaining({ message: '2 of 2 have an agent that is ready.' }),
    )
  })

  it('rights for Gateway API are given by the command of the page', async () => {
    const names = async () => (await lab.cluster.pods('app.kubernetes.io/name=spout', 'spout')).map(nameOf).sort()
    const before = await names()
    await lab.page.type('helm upgrade')
    await lab.kubectl('get', 'clusterrole', 'spout-connector-gateways')
    // No pod is replaced for that.
    expect(await names()).toEqual(before)
  })

  it('an administrator reads the password, reaches the control plane by port-forward, and uses the command', async () => {
    const exec = lab.page.take('kubectl --namespace spout exec')
    const read = await lab.shell(exec.command)
    const password = readFileSync(path.join(lab.volume, 'admin-password'), 'utf8')
    expect(read).toMatchObject({ code: 0, stdout: password })
    // One shell for the rest: it has a process in the background, and variables.
    const typed = [
      'kubectl --namespace spout port-forward',
      'kubectl --namespace spout get configmap',
      'export',
      'export',
    ]
    const [forward, ...rest] = typed.map((beginning) => lab.page.take(beginning).command)
    const isOpen = 'until (exec 3<>/dev/tcp/localhost/9130) 2>/dev/null; do kill -0 $! || exit 3; done'
    const script = [forward, 'trap "kill $!" EXIT', isOpen, ...rest, 'spout project list'].join('\n')
    const { code, stdout, stderr } = await lab.shell(script)
    expect([code, stdout], stderr).toEqual([0, expect.stringMatching(/^cluster /m)])
  })

  it('figures are for who has the token of the Secret, which may come later; for nobody before, while probes work', async () => {
    const asked = async (component: string, port: number, at: string, token: string) => {
      const [pod] = await lab.pods(component)
      const header = token === '' ? [] : ['--header', `authorization: Bearer ${token}`]
      const url = `http://${pod!.status?.podIP}:${port}${at}`
      const text = await lab.lab.must(WORKERS[0], ['curl', '-s', '-m', '5', '-w', '\\n%{http_code}', ...header, url])
      const end = text.lastIndexOf('\n')
      return [Number(text.slice(end + 1)), text.slice(0, end)] as const
    }
    const status = [
      ['control-plane', 9134],
      ['connector', 9133],
      ['configuration', 9133],
    ] as const
    for (const [component, port] of status) {
      expect(await asked(component, port, '/healthz', '')).toEqual([200, 'ok\n'])
      expect((await asked(component, port, '/metrics', ''))[0]).toBe(401)
      expect((await asked(component, port, '/metrics', 'too-early'))[0]).toBe(503)
    }
    await lab.page.type('kubectl --namespace spout create secret generic status-token')
    const sealed = ['get', 'secret', 'status-token', '--namespace', 'spout', '--output', 'jsonpath={.data.token}']
    const token = Buffer.from(await lab.kubectl(...sealed), 'base64').toString()
    expect(token).toMatch(/^[0-9a-f]{48}$/)
    // A kubelet brings it to running pods after a minute or so; the lab's does so only for new ones.
    const [pod] = await lab.pods('configuration')
    await replace('configuration', pod!, 1)
    const [code, text] = await asked('configuration', 9133, '/metrics', token)
    expect([code, text.includes('process_resident_memory_bytes')]).toEqual([200, true])
    for (const wrong of ['', `${token}s`]) expect((await asked('configuration', 9133, '/metrics', wrong))[0]).toBe(401)
  })

  it('EndpointSlices written by hand publish no pod of another namespace, nor anything else', async () => {
    const alice = ['--as', 'alice', '--namespace', 'default']
    await lab.kubectl('create', 'role', 'slices', '--verb=*', '--resource=endpointslices.discovery.k8s.io')
    await lab.kubectl('create', 'rolebinding', 'alice', '--role=slices', '--user=alice')
    const [control] = await lab.pods('control-plane')
    const targets = { pod: control!.status?.podIP ?? '', node: nodeAddress(WORKERS[1]) }
    await lab.apply(JSON.stringify(selectorless('stolen', 9131)))
    const byAlice = async (manager: string | null, address: string): Promise<string> => {
      const { code, stderr } = await run([...lab.cluster.kubectl, ...alice, 'apply', '--filename', '-'], {
        input: JSON.stringify(handMade('stolen', address, 9131, manager)),
      })
      return code === 0 ? 'admitted' : stderr
    }
    for (const address of Object.values(targets)) {
      expect(await byAlice('endpointslice-controller.k8s.io', address)).toContain(
        "is for Kubernetes' own controllers: name another manager",
      )
      for (const manager of ['mesh', null]) expect(await byAlice(manager, address)).toBe('admitted')
    }
    // Nobody else may change a slice of Kubernetes' own.
    const slices = await lab.kubectl('get', 'endpointslices', '-l', 'kubernetes.io/service-name=web', '-o', 'name')
    const patch = ['patch', slices.trim(), '--type=json', '--patch=[{"op":"remove","path":"/metadata/labels"}]']
    expect((await run([...lab.cluster.kubectl, ...alice, ...patch])).stderr).toContain('name another manager')
    const stolen = await waitFor(
      async () => {
        const { status } = await lab.service('stolen')
        const of = (type: string) => status?.conditions?.find((one) => one.type === type)
        const [address, said] = [status?.loadBalancer?.ingress?.[0]?.ip, of('spout.dev/Programmed')]
        return address !== undefined && said?.reason === 'EndpointsNotTrusted' ? { address, said } : null
      },
      { what: 'the Service to say so' },
    )
    expect(stolen.said.message).toMatch(/^EndpointSlice stolen-\S+ (has no manager|is managed by mesh), /)
    const shown = await lab.cluster.api.list<ShownMembers>('/apis/spout.dev/v1alpha1/observedloadbalancers')
    const own = shown.items.find(({ spec }) => spec.name === 'default/stolen')
    expect(own?.status?.members?.total).toBe(0)
    expect((await lab.client.tcp(stolen.address, 9131)).ok).toBe(false)
    await lab.kubectl('delete', 'service', 'stolen')
  })

  it('nothing but pods can be a member, although nobody named a prefix to protect', async () => {
    const [control] = await lab.pods('control-plane')
    const base = `https://${control!.status?.podIP}:9130`
    const call = async <T>(at: string, token: string, body?: unknown) => {
      const sent = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)]
      const words = ['curl', '-sk', '-m', '10', '-D', '-', '-H', `authorization: Bearer ${token}`, ...sent, base + at]
      const [head = '', text = ''] = (await lab.lab.must(WORKERS[0], words)).split('\r\n\r\n')
      return { head, body: JSON.parse(text) as T }
    }
    const password = readFileSync(path.join(lab.volume, 'admin-password'), 'utf8').trim()
    const domain = { name: 'Default' }
    const { head } = await call('/identity/v3/auth/tokens', '', {
      auth: {
        identity: { methods: ['password'], password: { user: { name: 'admin', password, domain } } },
        scope: { project: { name: 'admin', domain } },
      },
    })
    const token = /^x-subject-token: (.*)$/im.exec(head)?.[1] ?? ''
    type Listed = { readonly items: readonly { readonly id: string; readonly name: string }[] }
    const [project] = (await call<Listed>('/api/v1/projects?name=cluster', token)).body.items
    const [pool] = (await call<Listed>('/api/v1/address-pools', token)).body.items
    const kubernetes = await lab.cluster.api.get<BalancedService>('/api/v1/namespaces/default/services/kubernetes')
    const codes = new Map<string, string>()
    for (const address of [
      nodeAddress(WORKERS[0]),
      nodeAddress(WORKERS[1]),
      kubernetes.spec?.clusterIP ?? '',
      '198.51.100.1',
    ]) {
      const { body } = await call<{ readonly code?: string }>('/api/v1/load-balancers', token, {
        ...{ name: 'inward', projectId: project?.id, vips: [{ from: 'pool', poolId: pool?.id }] },
        pools: [{ name: 'p', protocol: 'tcp', members: [{ address, port: 443 }] }],
      })
      codes.set(address, body.code ?? 'taken')
    }
    expect(codes.size).toBe(4)
    for (const code of codes.values()) expect(code).toMatch(/^(MemberOutsideNetworks|AddressForbidden)$/)
  })

  it('a pod that is not ready gets nothing, by the readiness of Kubernetes and checks of its own', async () => {
    const address = await lab.answering('web')
    const [pod] = await lab.cluster.pods('app=web')
    lab.cluster.setReady(pod!, false)
    await waitFor(
      async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => lab.ask(address)))
        return answers.every((one) => one !== null && one.pod !== pod!.metadata.name)
      },
      { what: 'the pod to be out' },
    )
    lab.cluster.setReady(pod!, true)
  })

  it('the pod of the agent that carries the traffic is replaced: no request fails, and open connections go on', async () => {
    const address = await lab.answering('web')
    const owner = await lab.owner('default/web')
    const agent = (await lab.pods('agent')).find(({ spec }) => spec.nodeName === owner)!
    const asking = askPolitely(lab.client, address)
    await using clients = new Clients(lab, address)
    await clients.goOn()
    await replace('agent', agent, WORKERS.length)
    await asking.goesOn(50)
    const { failed, count, longestMs } = await asking.stop()
    expect(failed).toEqual([])
    // Pods see the node where a connection began: it goes on there, although the other node has the address.
    expect(await lab.owner('default/web')).not.toBe(owner)
    expect(await clients.goOn()).toMatchObject({ opened: 0, failures: [] })
    recordFault({
      fault: 'in-cluster: agent pod replaced',
      outcome: 'the address moves to the other node and stays there; kept-alive connections go on',
      figure: `${failed.length} of ${count} requests failed, the longest took ${longestMs} ms`,
    })
  })

  it('the control plane is replaced: clients notice nothing, nodes are the same, Services go on', async () => {
    const address = await lab.answering('web')
    const asking = askPolitely(lab.client, address)
    const [pod] = await lab.pods('control-plane')
    await replace('control-plane', pod!, 1)
    await lab.kubectl('create', 'service', 'loadbalancer', 'second', '--tcp=80:8080')
    await lab.kubectl('patch', 'service', 'second', '--patch', '{"spec":{"selector":{"app":"web"}}}')
    expect(await lab.answering('second')).not.toBe(address)
    const { failed } = await asking.stop()
    expect(failed).toEqual([])
    expect(await lab.answering('web')).toBe(address)
  })

  it('the connector that works is deleted: the other one takes over', async () => {
    const lease = '/apis/coordination.k8s.io/v1/namespaces/spout/leases/spout-connector'
    type Lease = { readonly spec: { readonly holderIdentity: string } }
    // A process adds a name of its own to the pod's.
    const holder = async () => (await lab.cluster.api.get<Lease>(lease)).spec.holderIdentity.split('_')[0] ?? ''
    const pods = await lab.pods('connector')
    const first = await holder()
    expect(pods.map(({ metadata }) => metadata.name)).toContain(first)
    await lab.kubectl('delete', 'pod', '--namespace', 'spout', '--wait=false', first)
    await waitFor(async () => (await holder()) !== first, { what: 'another to work' })
    await lab.kubectl('create', 'service', 'loadbalancer', 'third', '--tcp=80:8080')
    await lab.kubectl('patch', 'service', 'third', '--patch', '{"spec":{"selector":{"app":"web"}}}')
    await lab.answering('third')
  })

  it('a volume that is lost costs no address: all follow the new control plane once they are started anew', async () => {
    const address = await lab.answering('web')
    const before = await lab.announced('default/web')
    expect(before).not.toBeNull()
    await lab.kubectl('scale', '--namespace', 'spout', 'deployment/control-plane', '--replicas=0')
    await waitFor(async () => (await lab.pods('control-plane')).length === 0, { what: 'it to end', timeoutMs: 40_000 })
    rmSync(lab.volume, { recursive: true })
    mkdirSync(lab.volume)
    await lab.kubectl('scale', '--namespace', 'spout', 'deployment/control-plane', '--replicas=1')
    await lab.ready('control-plane', 1)
    const names = async () =>
      (await Promise.all(['agent', 'connector', 'configuration'].map(lab.pods)))
        .flat()
        .map(({ metadata }) => metadata.name)
    const old = await names()
    await lab.page.type('kubectl --namespace spout rollout restart')
    // An address that was taken away and given back was lost too, so this looks at it meanwhile.
    const shown = new Set<string>()
    const look = async () => shown.add((await lab.service('web')).status?.loadBalancer?.ingress?.[0]?.ip ?? 'none')
    const areNew = async () => (await look()) && (await names()).every((name) => !old.includes(name))
    await waitFor(areNew, { what: 'new pods', timeoutMs: 90_000 })
    await waitFor(
      async () => {
        await look()
        const now = await lab.announced('default/web')
        return now !== null && now.id !== before?.id
      },
      { what: 'the new control plane to have it announced', timeoutMs: 60_000 },
    )
    await lab.allReady()
    expect([...shown]).toEqual([address])
    expect(await lab.answering('web')).toBe(address)
  }, 300_000)

  it('a LoadBalancer object, as its page has it, has the pods of a Service as members until it is deleted', async () => {
    await lab.apply(documented('load-balancer-objects.md', 'kind: LoadBalancer'))
    const shown = await waitFor(
      async () => {
        const text = await lab.kubectl('get', 'lb', 'shop')
        return text.includes(' True ') && text
      },
      { what: 'the object to say that nodes have it', timeoutMs: 60_000 },
    )
    const pods = (await lab.cluster.pods('app=web')).length
    expect(shown).toMatch(new RegExp(`^shop +\\["198\\.51\\.100\\.\\d+"\\] +${pods} +${pods} +True +Programmed `, 'm'))
    const [, address = ''] = /"([\d.]+)"/.exec(shown) ?? []
    await waitFor(() => lab.ask(address), { what: 'a pod to answer' })
    expect(await lab.client.http(address, 80, { path: '/old/page' })).toMatchObject({
      ok: true,
      value: { status: 301 },
    })
    await lab.kubectl('delete', 'lb', 'shop')
    expect(await lab.ask(address)).toBeNull()
  })

  it('one with members by address, of Services by label and of an EndpointSlice is reached at all of them', async () => {
    for (const name of ['labelled', 'sliced']) {
      await startWorkload(lab, { name, replicas: 1 })
      await lab.kubectl('create', 'service', 'clusterip', name, '--tcp=80:8080')
    }
    const ofSliced = ['get', 'endpointslices', '-l', 'kubernetes.io/service-name=sliced', '-o', 'name'] as const
    const slice = await waitFor(async () => (await lab.kubectl(...ofSliced)).trim().split('/')[1], { what: 'a slice' })
    const [web] = await lab.cluster.pods('app=web')
    const object = (defaultPool: string) =>
      JSON.stringify({
        ...{ apiVersion: 'spout.dev/v1', kind: 'LoadBalancer', metadata: { name: 'all', namespace: 'default' } },
        spec: {
          listeners: [{ protocol: 'tcp', port: 80, defaultPool }],
          pools: [
            {
              ...{ name: 'all', protocol: 'tcp', members: [{ address: web?.status?.podIP, port: 8080 }] },
              membersFrom: [
                { services: { matchLabels: { app: 'labelled' }, port: 80 } },
                { endpointSlice: { name: slice, port: 8080 } },
              ],
            },
          ],
        },
      })
    // The API server itself refuses what contradicts itself.
    await expect(lab.apply(object('none'))).rejects.toThrow('defaultPool of a listener is not the name of a pool')
    await lab.apply(object('all'))
    const address = await waitFor(
      async () => (await lab.kubectl('get', 'lb', 'all', '-o', 'jsonpath={.status.addresses[0]}')).trim() || null,
      { what: 'its address', timeoutMs: 60_000 },
    )
    const answered = new Set<string>()
    await waitFor(
      async () => {
        const answer = await lab.ask(address)
        if (answer !== null)
          answered.add(answer.pod === web?.metadata.name ? 'address' : (answer.pod.split('-')[0] ?? ''))
        return answered.size === 3
      },
      { what: 'all three to answer' },
    )
    expect([...answered].sort()).toEqual(['address', 'labelled', 'sliced'])
    await lab.kubectl('delete', 'lb', 'all')
    expect(await lab.ask(address)).toBeNull()
  })

  it.each(OTHER_PROXIES)('beside kube-proxy of mode %s, clients get answers under both policies', async (mode) => {
    if (mode === 'iptables') {
      const local = serviceBody('web-local', 'web', { externalTrafficPolicy: 'Local' })
      await lab.cluster.api.create(servicesIn('default'), local)
      await lab.answering('web-local')
    }
    await replaceProxies(lab, mode)
    for (const service of ['web', 'web-local']) {
      const address = await lab.answering(service)
      for (const worker of WORKERS)
        await expect
          .poll(() => proxyRules(lab, worker, address))
          .toEqual(mode === 'none' ? null : { haveAddress: true, dropInvalid: true })
      expect(await answersToOnePort(lab, address)).toBe('10 of 10')
      expect((await seenClients(lab, service)).size).toBeGreaterThan(0)
    }
    expect(await answersByClusterIp(lab, 'web')).toBe(mode !== 'none')
  })

  it('a node whose power is lost gives its addresses to the other', async () => {
    const address = await lab.answering('web')
    const owner = await lab.owner('default/web')
    await lab.cluster.node(owner).powerOff()
    await waitFor(() => lab.ask(address), { what: 'an answer by the other node', timeoutMs: 20_000 })
  })

  it('nothing of the page is left to type', () => {
    expect(lab.page.left).toEqual([])
  })
})
