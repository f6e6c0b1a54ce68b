import { type KubernetesApiError, KubernetesCluster, Lab, LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  AGENT,
  API_PORT,
  CONFIGURATION,
  CONNECTOR,
  CONTROL_PLANE,
  CONTROL_PLANE_STATUS_PORT,
  LINK_PORT,
  labels,
  STATUS_PORT,
} from './names.ts'
import { NETWORK_POLICIES } from './network-policies.ts'
import { WORKLOADS } from './workloads.ts'

/** What the pods of the installation may do, and who may reach them, as the real API server understands it. */

interface PodSpec {
  readonly securityContext?: object
  readonly containers: readonly { readonly securityContext?: object }[]
}

let lab: Lab
let cluster: KubernetesCluster
beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  for (const level of ['restricted', 'privileged'])
    await cluster.api.create('/api/v1/namespaces', {
      metadata: { name: level, labels: { 'pod-security.kubernetes.io/enforce': level } },
    })
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await cluster?.destroy()
  await lab?.destroy()
})

/** The pod of a Deployment or DaemonSet. */
const specOf = (program: string): PodSpec => {
  const found = WORKLOADS.find(
    ({ kind, metadata }) => metadata.name === program && /^(Deployment|DaemonSet)$/.test(kind),
  )
  return (found as unknown as { readonly spec: { readonly template: { readonly spec: PodSpec } } }).spec.template.spec
}

/** `admitted`, or the words in which the API server refuses the pod. Nothing is stored. */
const asked = (level: string, spec: PodSpec): Promise<string> =>
  cluster.api
    .create(`/api/v1/namespaces/${level}/pods?dryRun=All`, {
      metadata: { generateName: 'asked-' },
      // The account is of the installation's own namespace, and no class is of this cluster's.
      spec: { ...spec, serviceAccountName: 'default', priorityClassName: undefined },
    })
    .then(
      () => 'admitted',
      (error: KubernetesApiError) => error.message,
    )

describe('the standard `restricted` of Kubernetes', () => {
  const closed = [CONTROL_PLANE, CONNECTOR, CONFIGURATION]

  test.each(closed)('admits %s, and refuses it without any single one of its restrictions', async (program) => {
    const spec = specOf(program)
    expect(await asked('restricted', spec)).toBe('admitted')
    const [container] = spec.containers
    const inPod = (change: object): PodSpec => ({ ...spec, securityContext: { ...spec.securityContext, ...change } })
    const inContainer = (change: object): PodSpec => ({
      ...spec,
      containers: [{ ...container, securityContext: { ...container?.securityContext, ...change } }],
    })
    expect(await asked('restricted', inPod({ seccompProfile: undefined }))).toContain('seccompProfile')
    expect(await asked('restricted', inPod({ runAsNonRoot: undefined }))).toContain('runAsNonRoot')
    expect(await asked('restricted', inContainer({ allowPrivilegeEscalation: undefined }))).toContain(
      'allowPrivilegeEscalation',
    )
    expect(await asked('restricted', inContainer({ capabilities: undefined }))).toContain('unrestricted capabilities')
  })

  test('refuses the agent for being privileged in the network of its node, and for nothing else', async () => {
    expect(await asked('privileged', specOf(AGENT))).toBe('admitted')
    const why = (await asked('restricted', specOf(AGENT))).replace(/^.*PodSecurity "restricted:latest": /, '')
    expect(why.split(/, (?=\w[\w ]* \()/).map((one) => one.replace(/ \(.*$/, ''))).toEqual([
      'host namespaces',
      'probe or lifecycle host',
      'privileged',
      'unrestricted capabilities',
      'restricted volume types',
      'seccompProfile',
    ])
  })
})

interface Peer {
  readonly namespaceSelector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> }
}
interface Policy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> }
    readonly ingress?: readonly {
      readonly from?: readonly Peer[]
      readonly ports?: readonly { readonly protocol: string; readonly port: number }[]
    }[]
  }
}
interface Source {
  /** Null: a node's own address, which no selector of pods matches. */
  readonly pod: { readonly own: boolean; readonly labels: Readonly<Record<string, string>> } | null
}

const has = (labelsOf: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(wanted).every(([name, value]) => labelsOf[name] === value)

/** Kubernetes' rules for ingress: https://kubernetes.io/docs/concepts/services-networking/network-policies/ */
function mayConnect(policies: readonly Policy[], { pod }: Source, to: Readonly<Record<string, string>>, port: number) {
  const selected = policies.filter(({ spec }) => has(to, spec.podSelector.matchLabels))
  const matches = ({ namespaceSelector, podSelector }: Peer): boolean =>
    pod !== null && (namespaceSelector === undefined ? pod.own : true) && has(pod.labels, podSelector?.matchLabels)
  return (
    selected.length === 0 ||
    selected.some(({ spec }) =>
      (spec.ingress ?? []).some(
        ({ from, ports }) =>
          (from === undefined || from.some(matches)) && (ports === undefined || ports.some((one) => one.port === port)),
      ),
    )
  )
}

test('network policies, as they are stored, let each port be reached by those who need it, and nothing else', async () => {
  const where = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies'
  for (const { metadata, spec } of NETWORK_POLICIES)
    await cluster.api.create(where, { metadata: { name: metadata.name }, spec })
  const { items } = await cluster.api.list<Policy>(where)
  expect(items).toHaveLength(NETWORK_POLICIES.length)
  const of = (own: boolean, more: Readonly<Record<string, string>>): Source => ({ pod: { own, labels: more } })
  const sources: Readonly<Record<string, Source>> = {
    connector: of(true, labels(CONNECTOR)),
    configuration: of(true, labels(CONFIGURATION)),
    node: { pod: null },
    neighbour: of(true, { app: 'else' }),
    tenant: of(false, { app: 'web' }),
    // A tenant may call its pods as it likes.
    impostor: of(false, labels(CONNECTOR)),
    client: of(false, { 'spout.dev/api-client': 'true' }),
  }
  const allowed = (to: Readonly<Record<string, string>>, port: number): readonly string[] =>
    Object.entries(sources).flatMap(([name, source]) => (mayConnect(items, source, to, port) ? [name] : []))
  const pods = ['connector', 'configuration', 'neighbour', 'tenant', 'impostor', 'client']
  expect(allowed(labels(CONTROL_PLANE), API_PORT)).toEqual(['connector', 'configuration', 'client'])
  expect(allowed(labels(CONTROL_PLANE), LINK_PORT).toSorted()).toEqual([...pods, 'node'].toSorted())
  expect(allowed(labels(CONTROL_PLANE), CONTROL_PLANE_STATUS_PORT)).toEqual(pods)
  for (const program of [CONNECTOR, CONFIGURATION]) {
    expect(allowed(labels(program), STATUS_PORT)).toEqual(pods)
    expect(allowed(labels(program), 22)).toEqual([])
  }
  for (const port of [22, 9133, 1024]) expect(allowed(labels(CONTROL_PLANE), port)).toEqual([])
  expect(allowed({ app: 'else' }, 80)).toEqual([])
})
