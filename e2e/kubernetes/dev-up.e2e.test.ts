import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { LONGEST_BUILD_MS, type RunResult, run } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENT } from '../fixtures.ts'

const REPOSITORY = path.resolve(import.meta.dirname, '../..')
const PROGRAM = path.join(REPOSITORY, 'tools/dev/main.ts')
const STORY_MS = 300_000

// A running `./dev up` is not affected: this one has another state directory and port.
const directory = mkdtempSync(path.join(tmpdir(), 'spout-dev-up-'))
const dev = (args: readonly string[], state = 'dev.json'): Promise<RunResult> =>
  run([process.execPath, PROGRAM, ...args], {
    env: { SPOUT_DEV_STATE: path.join(directory, state), SPOUT_TOKEN: '', NO_COLOR: '1' },
    timeoutMs: LONGEST_BUILD_MS + STORY_MS,
  })
/** A command as the story prints it, in the repository. */
const inShell = (command: string): Promise<RunResult> =>
  run(['sh', '-c', `cd '${REPOSITORY}' && ${command}`], {
    env: { SPOUT_DEV_STATE: path.join(directory, 'dev.json'), NO_COLOR: '1' },
  })
const WITH_MANAGEMENT = ['--set', 'story.managementCluster=true'] as const
const UP = ['up', '--kubernetes', '--set', 'api.port=0'] as const

interface State {
  readonly labId: string
  readonly directory: string
}

let told: RunResult
let state: State
const namespaces = () => readdirSync('/run/netns').filter((name) => name.startsWith(`${state.labId}-`))

beforeAll(async () => {
  told = await dev(UP)
  if (told.code === 0) state = JSON.parse(readFileSync(path.join(directory, 'dev.json'), 'utf8')) as State
}, LONGEST_BUILD_MS + STORY_MS)
afterAll(async () => {
  await dev(['down'])
  rmSync(directory, { recursive: true, force: true })
})

describe('./dev up --kubernetes', () => {
  it('tells how a Service gets its address, is used while everything changes, and says why when it cannot be', () => {
    expect(told.code, told.stdout + told.stderr).toBe(0)
    for (const line of [
      /\$ openstack application credential create cluster --role balancer\n/,
      /\$ kubectl apply --filename tools\/dev\/kubernetes\/web\.yaml\n/,
      /198\.51\.100\.\d+ stood at the Service \d+ ms after it was created; web-\S+ answered there after \d+ ms\n/,
      /web {4}LoadBalancer +10\.96\.\S+ +198\.51\.100\.\d+ /,
      new RegExp(`http://198\\.51\\.100\\.\\d+/: (web-\\S+ \\d+, ){2}web-\\S+ \\d+; the pods see client ${CLIENT}\\n`),
      /\$ kubectl delete pod (web-\S+) --wait=false\n.*? s {2}\1 got its last request \d+ ms after/,
      /web-\S+ took its place/,
      /\$ kubectl scale deployment web --replicas=5\n.*5 pods answer/,
      /\$ kubectl annotate service web spout\.dev\/mode=node-ports\n.*members are the nodes; policy Local: .*see the client/,
      /\$ kubectl patch service web --patch '\{"spec":\{"externalTrafficPolicy":"Cluster"\}\}'\n.*the pods see nodes \(/,
      /through all of this: \d+ requests, each on a connection of its own, 0 failed\n/,
      /Warning {2}AddressNotInPool .* 192\.0\.2\.7 is in none of the address pools/,
      /\$ kubectl apply --filename tools\/dev\/kubernetes\/shop\/shop\.yaml\n.*198\.51\.100\.\d+ stood at Gateway shop \d+ ms after/,
      /shop +spout +198\.51\.100\.\d+ +True /,
      /Try next\n.*\$ eval "\$\(\.\/dev env\)"\n/,
    ])
      expect(told.stdout).toMatch(line)
  })

  it.each([
    ['a redirect to HTTPS', /http:\/\/shop\./, /^301 to https:\/\/shop\.example\.org\/\n$/],
    ['a canary', /https:\/\/shop\./, /^ +\d+ next\n +1\d\d web\n$/],
    ['gRPC', /https:\/\/cart\./, /^HTTP\/2, grpc-status 0\n$/],
    ['an Ingress', /https:\/\/blog\./, /^\{.*"host":"blog\.example\.org"/],
  ])('shows %s of the shop with a command that can be copied, certificates checked', async (_, url, answer) => {
    const commands = [...told.stdout.matchAll(/^ +\$ (.*\.\/dev in client curl .*)$/gm)].map(
      ([, command = '']) => command,
    )
    const command = commands.find((one) => url.test(one)) ?? ''
    const { stdout, stderr } = await inShell(command)
    expect(stdout, stderr).toMatch(answer)
    const shown = told.stdout.split(`$ ${command}\n`)[1]?.replace(/^ {9}/gm, '') ?? ''
    expect(shown).toMatch(new RegExp(answer.source.replace('$', '')))
  })

  it('a second one changes nothing', async () => {
    const before = namespaces()
    const again = await dev([...UP, '--json'])
    expect(again.code, again.stderr).toBe(0)
    const { story, kubeconfig, bare } = JSON.parse(again.stdout)
    expect(story).toMatchObject({ ok: true, firstTime: null, service: { name: 'web' } })
    expect(told.stdout).toContain(`${story.service.vip} stood at the Service`)
    expect(told.stdout).toContain(`${story.shop.gateway} stood at Gateway shop`)
    expect(story.shop.ingress).toMatch(/^198\.51\.100\.\d+$/)
    expect(story.service.answers.split(', ')).toHaveLength(5)
    expect({ kubeconfig, bare }).toEqual({ kubeconfig: expect.stringContaining(state.directory), bare: false })
    expect(namespaces()).toEqual(before)
  })

  it("adds a cluster of the provider when asked: a tenant's Ingress there is reached by its name", async () => {
    const { code, stdout, stderr } = await dev([...UP, ...WITH_MANAGEMENT])
    expect(code, stdout + stderr).toBe(0)
    for (const line of [
      /A cluster of the provider, in which tenants have namespaces\n/,
      /--as alice --namespace acme apply --filename tools\/dev\/kubernetes\/management\/wiki\.yaml\n/,
      /wiki +spout +wiki\.example\.org +198\.51\.100\.\d+ +80 /,
      /Error from server \(Forbidden\).*others-host.*spec\.rules\[\]\.host: no domain in spout\.dev\/domains/,
    ])
      expect(stdout).toMatch(line)
    const asks = /^ +\$ (.*\.\/dev in client curl .*http:\/\/wiki\.example\.org\/)$/m.exec(stdout)?.[1] ?? ''
    const answer = await inShell(asks)
    expect(JSON.parse(answer.stdout)).toMatchObject({ host: 'wiki.example.org', pod: expect.stringMatching(/^web-/) })
    // Who may do what is the tenant's own right, not only the administrator's word.
    const kubectl = /(kubectl --kubeconfig \S+ --as alice) --namespace acme/.exec(stdout)?.[1] ?? ''
    const mine = kubectl.replace('kubectl', path.join(state.directory, 'bin', 'kubectl'))
    for (const [asked, allowed] of [
      ['create ingresses --namespace acme', 'yes'],
      ['create endpointslices.discovery.k8s.io --namespace acme', 'yes'],
      ['update namespaces', 'no'],
      ['create ingresses --namespace default', 'no'],
    ])
      expect([asked, (await inShell(`${mine} auth can-i ${asked}`)).stdout.trim()]).toEqual([asked, allowed])
    expect((await dev(['places'])).stdout).toMatch(/^provider +Kubernetes control plane, https:/m)
  })

  it('what was added stays, and is shown by one that does not ask for it', async () => {
    const before = namespaces()
    const again = await dev([...UP, '--json'])
    expect(again.code, again.stderr).toBe(0)
    expect(JSON.parse(again.stdout).story.managementCluster).toMatchObject({
      host: 'wiki.example.org',
      address: expect.stringMatching(/^198\.51\.100\.\d+$/),
    })
    expect(namespaces()).toEqual(before)
  })

  it('env leads kubectl to the cluster; places and in know its parts', async () => {
    const env = await dev(['env'])
    const kubeconfig = /^export KUBECONFIG='(.+)'$/m.exec(env.stdout)?.[1] ?? ''
    const kubectl = path.join(state.directory, 'bin', 'kubectl')
    const jsonpath = '{.status.loadBalancer.ingress[0].ip}'
    const shown = await run([kubectl, 'get', 'service', 'web', '--output', `jsonpath=${jsonpath}`], {
      env: { KUBECONFIG: kubeconfig },
    })
    expect(shown.stdout, shown.stderr).toMatch(/^198\.51\.100\.\d+$/)
    const { stdout: places } = await dev(['places'])
    for (const place of [/^kube +Kubernetes control plane, https:/m, /^worker2 +Kubernetes node, 10\.0\.0\.33/m])
      expect(places).toMatch(place)
    const pod = /^(web-\S+) +pod on worker\d, (\S+)$/m.exec(places)
    const inPod = await dev(['in', pod?.[1] ?? '', 'ip', '-brief', 'address', 'show', 'dev', 'eth0'])
    expect(inPod.stdout).toContain(`${pod?.[2]}/32`)
    const asked = await dev(['in', 'client', 'curl', '-sf', '-m', '5', `http://${shown.stdout}/`])
    expect(JSON.parse(asked.stdout)).toMatchObject({ client: expect.stringContaining(CLIENT) })
  })

  it.each([
    [['up'], 'the system with a Kubernetes cluster is up already'],
    [['up', '--bare'], 'the system with a Kubernetes cluster is up already'],
    [['up', '--bare', '--kubernetes'], 'exclude each other'],
    [['in', 'worker3', 'true'], 'there is no place "worker3"'],
    [['up', ...WITH_MANAGEMENT], '--set story.managementCluster needs --kubernetes'],
    [[...UP, '--set', 'story.moon=true'], '--set story.moon: the only setting of the story is story.managementCluster'],
  ])('%j is called wrongly', async (args, why) => {
    const { code, stderr } = await dev(args)
    expect(stderr).toContain(why)
    expect(code).toBe(2)
  })

  it('a lab that only has the same id is not taken for it', async () => {
    writeFileSync(path.join(directory, 'other.json'), JSON.stringify({ ...state, directory: '/tmp/another' }))
    const { stdout } = await dev(['down'], 'other.json')
    expect(stdout).toBe('Nothing was up.\n')
    expect(namespaces().length).toBeGreaterThan(10)
  })

  it('down takes the cluster, its nodes and pods away', async () => {
    const standing = namespaces()
    expect(standing.filter((name) => name.startsWith(`${state.labId}-pod-`)).length).toBeGreaterThanOrEqual(5)
    const { code, stdout } = await dev(['down'])
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Taken down/) })
    expect(namespaces()).toEqual([])
    expect(existsSync(state.directory)).toBe(false)
    expect(processesIn(state.directory)).toEqual([])
    expect((await dev(['down'])).stdout).toBe('Nothing was up.\n')
    expect((await dev(['env'])).code).toBe(2)
  })
})

/** Processes whose command line contains the lab's directory. */
const processesIn = (labDirectory: string): readonly string[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${labDirectory}/`)
      } catch {
        return false
      }
    })
