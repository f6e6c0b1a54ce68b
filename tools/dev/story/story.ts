import { callApi, type Lab, run, type SystemAccess, startMember, waitFor } from '@spout/testkit'
import { openstackEnv } from '../env.ts'
import { twoSites } from './https.ts'
import { nodeDies } from './node-death.ts'
import { describeAnswers, request } from './requests.ts'
import type { Teller } from './teller.ts'
import { DEMO_TENANTS, type DemoTenant } from './tenant.ts'

export interface StoryResult {
  readonly ok: boolean
  readonly loadBalancers: readonly { readonly name: string; readonly vip: string; readonly answers: string }[]
}

interface Shown {
  readonly name: string
  readonly vips: readonly { readonly address: string }[]
  readonly status: { readonly provisioning: string }
}

const REQUESTS = 12

/** Shows the main job: two tenants create load balancers, a client is answered, a member dies, a node dies. */
export async function tellStory(lab: Lab, access: SystemAccess, teller: Teller): Promise<StoryResult> {
  const account = (tenant: DemoTenant) =>
    access.projects.find(({ project }) => project === tenant.project) ?? access.admin
  const existing = async (tenant: DemoTenant) =>
    (
      await callApi<{ items: Shown[] }>(
        access.endpoint,
        account(tenant).token,
        'GET',
        `/load-balancers?name=${tenant.loadBalancer}`,
      )
    ).items[0]

  const fresh = (await Promise.all(DEMO_TENANTS.map(existing))).every((found) => found === undefined)
  if (fresh) {
    teller.heading('Each tenant asks for a load balancer with the unmodified openstack client')
    await Promise.all(DEMO_TENANTS.map((tenant) => create(access, tenant, account(tenant))))
    for (const tenant of DEMO_TENANTS) {
      teller.event(`${tenant.project} (${tenant.what}), as ${tenant.user}:`)
      for (const command of tenant.commands) teller.command(`openstack ${command}`)
    }
  }
  const vips = new Map<string, string>()
  for (const tenant of DEMO_TENANTS) vips.set(tenant.project, (await existing(tenant))?.vips[0]?.address ?? '')

  teller.heading('A client on the other side of the router asks')
  for (const tenant of DEMO_TENANTS) await bothAnswer(lab, tenant, vips, teller)
  let survived = true
  if (fresh) {
    teller.heading('Two host names over HTTPS, and a redirect from HTTP')
    const tenant = DEMO_TENANTS[1]!
    await twoSites(lab, access, { tenant, token: account(tenant).token }, teller)
    teller.heading('A member of each tenant is killed')
    for (const tenant of DEMO_TENANTS) await killMember(lab, tenant, vips.get(tenant.project) ?? '', teller)
    const killed = DEMO_TENANTS.map((tenant) => `${tenant.segment}-member1`)
    await Promise.all(killed.map((place) => startMember(lab, place)))
    teller.event(`${killed.join(' and ')} run again, and are back as soon as their check says so`)
    for (const tenant of DEMO_TENANTS) await bothAnswer(lab, tenant, vips, teller)
    teller.heading('The node that carries the traffic dies')
    survived = await nodeDies(lab, access, vips.get(DEMO_TENANTS[0]!.project) ?? '', teller)
  }

  const results = []
  for (const tenant of DEMO_TENANTS) {
    const vip = vips.get(tenant.project) ?? ''
    results.push({ name: tenant.loadBalancer, vip, answers: describeAnswers(await request(lab, vip, REQUESTS)) })
  }
  whatNext(lab, vips, teller)
  return { ok: survived && results.every(({ answers }) => !answers.includes('no answer')), loadBalancers: results }
}

async function create(access: SystemAccess, tenant: DemoTenant, account: SystemAccess['admin']): Promise<void> {
  // One process runs all of a tenant's commands: the client reads them from its standard input.
  const result = await run(['openstack'], {
    input: `${tenant.commands.join('\n')}\n`,
    env: openstackEnv(access.endpoint, account),
    timeoutMs: 60_000,
  })
  const [found] = (
    await callApi<{ items: Shown[] }>(
      access.endpoint,
      account.token,
      'GET',
      `/load-balancers?name=${tenant.loadBalancer}`,
    )
  ).items
  if (found?.status.provisioning !== 'active')
    throw new Error(
      `openstack did not bring up ${tenant.loadBalancer}: ${result.stderr.trim() || result.stdout.trim()}`,
    )
}

async function bothAnswer(
  lab: Lab,
  tenant: DemoTenant,
  vips: ReadonlyMap<string, string>,
  teller: Teller,
): Promise<void> {
  const vip = vips.get(tenant.project) ?? ''
  const answers = await waitFor(
    async () => {
      const got = await request(lab, vip, REQUESTS)
      return new Set(got.map((answer) => answer?.member)).size === 2 && !got.includes(null) && got
    },
    { what: `both members of ${tenant.project} to answer at ${vip}`, everyMs: 50 },
  )
  const [first] = answers
  teller.event(
    `http://${vip}/ (${tenant.loadBalancer}): ${describeAnswers(answers)}; the members see ${first?.forwardedFor ? `X-Forwarded-For ${first.forwardedFor}` : `client ${first?.from.replace('::ffff:', '')}`}`,
  )
}

async function killMember(lab: Lab, tenant: DemoTenant, vip: string, teller: Teller): Promise<void> {
  const place = `${tenant.segment}-member1`
  const server = lab.process(`member-${place}`)
  if (server === null) throw new Error(`${place} does not run`)
  const killedAt = performance.now()
  await lab.stop(server, 'SIGKILL')
  const answers = await waitFor(
    async () => {
      const got = await request(lab, vip, REQUESTS)
      return !got.includes(null) && got.every((answer) => answer?.member !== place) && got
    },
    { what: `${place} to leave rotation`, everyMs: 20 },
  )
  teller.event(
    `${place} killed; ${Math.round(performance.now() - killedAt)} ms later the client meets the other alone: ${describeAnswers(answers)}`,
  )
}

function whatNext(lab: Lab, vips: ReadonlyMap<string, string>, teller: Teller): void {
  teller.heading('Try next')
  for (const command of [
    `./dev in client curl -s http://${[...vips.values()][0]}/`,
    'eval "$(./dev env)"; openstack loadbalancer status show shop',
    './dev spout explain lb shop',
    './dev spout lb list -o wide',
    './dev in node1 ip -brief address',
    `less ${lab.directory}/agent-node1.log`,
    './dev down',
  ])
    teller.command(command)
}
