import { LONGEST_BUILD_MS, recordFault, TypedPage, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { giveMetallbPool, installMetallb, metallbImages } from '../../bench/kubernetes/metallb.ts'
import { type InClusterLab, startInClusterLab } from './in-cluster-lab.ts'
import { askPolitely } from './polite-client.ts'
import { followAddresses, serviceBody, servicesIn } from './services.ts'
import { startWorkload } from './workloads.ts'

// A real MetalLB announces Services, and Spout on the same nodes takes their addresses over, one after the other, by the
// commands of the page.

/** The Service of the page first. */
const NAMES = ['one', 'two', 'three'] as const
/** The narrowest subnet around it would take its first address away, which MetalLB gives. */
const RANGE = '198.51.100.192/27'

let lab: InClusterLab
let page: TypedPage
beforeAll(async () => {
  lab = await startInClusterLab(await metallbImages())
  page = new TypedPage('migrating-from-metallb.md', lab.shell)
  page.leaveOut('spout import metallb --file', 'a unit test of the command compares what it prints')
  await startWorkload(lab, { name: 'web', replicas: 4 })
  await installMetallb(lab.cluster, { ofClass: false })
  await giveMetallbPool(lab.cluster, RANGE, 'lan')
  for (const name of NAMES) await lab.cluster.api.create(servicesIn('default'), serviceBody(name, 'web'))
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

/** Types a command of the page, which prints what the page shows, if it shows anything. */
async function types(beginning: string): Promise<void> {
  const { said, shown } = await page.type(beginning)
  if (shown !== '') expect(said.trim()).toBe(shown)
}

const isOurs = async (name: string): Promise<boolean> =>
  (await lab.service(name)).metadata.annotations?.['spout.dev/managed-by'] !== undefined

it('takes each address over from MetalLB, which keeps the others, and connections go on', async () => {
  const addresses = await Promise.all(NAMES.map((name) => lab.answering(name)))
  expect(addresses).toContain('198.51.100.192')
  await types('helm install')
  await lab.allReady()
  await types('spout import metallb --kubeconfig')
  await types('kubectl apply --filename objects.yaml')
  await types('kubectl wait --for=condition=Ready addresspool/lan')
  await types('kubectl --namespace metallb-system scale deployment controller')

  // Without it in the status kube-proxy takes no packet, and MetalLB draws none: a node then asks the fabric who has it.
  const stopFollowing = followAddresses(lab.cluster, 'default')
  const asking = addresses.map((address) => askPolitely(lab.client, address))
  const goOn = (times: number) => Promise.all(asking.map((one) => one.goesOn(times)))
  await goOn(50)
  const take = page.take('kubectl annotate service one')
  const wait = page.take('kubectl wait --for=condition=spout.dev/Programmed service/one')
  for (const [at, name] of NAMES.entries()) {
    expect(await Promise.all(NAMES.map(isOurs))).toEqual(NAMES.map((_, other) => other < at))
    for (const { command, printed } of [take, wait]) {
      const stdout = `${printed.join('\n')}\n`.replace('/one ', `/${name} `)
      expect(await lab.shell(command.replace(/\bone\b/, name))).toMatchObject({ code: 0, stdout })
    }
    await goOn(50)
  }

  expect(await stopFollowing()).toEqual(new Set(NAMES.map((name, at) => `${name} ${addresses[at]}`)))

  await types('kubectl --namespace metallb-system delete daemonset speaker')
  await waitFor(async () => (await lab.cluster.pods('app=metallb', 'metallb-system')).length === 0, {
    what: 'MetalLB to stop',
    timeoutMs: 60_000,
  })
  await types('helm upgrade')
  await lab.allReady()
  await lab.cluster.api.create(servicesIn('default'), serviceBody('later', 'web'))
  await lab.answering('later')
  await goOn(50)
  const seen = await Promise.all(asking.map((one) => one.stop()))
  expect(page.left).toEqual([])

  expect(await Promise.all(NAMES.map((name) => lab.answering(name)))).toEqual(addresses)
  for (const name of NAMES) expect(await lab.announced(`default/${name}`)).not.toBeNull()
  // Spout does not know kube-proxy's connections, and nodes take turns while both answer for an address. A connection
  // that is under way just then is reset, as when MetalLB moves an address. On a busy machine a new one can be lost, too:
  // its client hears 3 s later that nobody is there.
  const isOfTheMove = (why: string) => /^(ECONNRESET|EHOSTUNREACH) /.test(why)
  expect(seen.flatMap(({ failed }) => failed).filter((why) => !isOfTheMove(why))).toEqual([])
  for (const { failed } of seen) expect(failed.length).toBeLessThan(10)
  recordFault({
    fault: 'in-cluster: Spout takes the addresses of Services over from MetalLB, one by one',
    outcome: 'each Service keeps its address, and MetalLB keeps the others; a move may end connections',
    figure: seen
      .map(({ failed, count, longestMs }) => `${failed.length} of ${count} ended by the move, longest ${longestMs} ms`)
      .join('; '),
  })
}, 300_000)
