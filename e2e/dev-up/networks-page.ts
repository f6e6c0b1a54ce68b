import { callApi, createTenant, type Tenant, TypedPage } from '@spout/testkit'
import { expect, it } from 'vitest'
import { hasFieldsShown, printsAsShown } from './as-shown.ts'
import { type Demo, publicPool } from './demo.ts'

const LONG_MS = 240_000

/** What docs/networks.md says to type, typed after `./dev up`. */
export function networksPage(here: () => Demo): void {
  const page = new TypedPage('networks.md', (command, input) => here().asAdministrator(command, input))

  it('networks.md: segments, return paths, routes and address pools', { timeout: LONG_MS }, async () => {
    const { asAdministrator, asTenant } = here()
    const as = (beginning: string, shell = asAdministrator) => printsAsShown(page, beginning, shell)
    await as('./dev spout network list')
    await as('./dev spout network create dup')
    await as('./dev spout explain lb shop')
    await as('./dev spout explain lb blog')
    expect(await asTenant('./dev spout subnet create net six --cidr fd01::/64 --gateway fd01::1')).toMatchObject({
      code: 0,
    })
    await routed(here(), await networkIn(here(), 'acme'))

    await hasFieldsShown(page, './dev spout address-pool create extra', asAdministrator)
    expect(await asTenant('./dev spout lb create spare --pool extra')).toMatchObject({ code: 0 })
    await hasFieldsShown(page, './dev spout address-pool set extra', asAdministrator)
    await as('./dev spout lb create late')
    await as('./dev spout explain lb spare')
    await hasFieldsShown(page, './dev spout address list', asAdministrator)
  })

  it('networks.md: direct server return, and members on the nodes themselves', { timeout: LONG_MS }, async () => {
    const { access, asAdministrator } = here()
    const dune = await createTenant(access, {
      ...{ project: 'dune', user: 'dora', password: 'dora-in-the-lab', segment: 'tenant-d', returnPath: 'dsr' },
    })
    await hasFieldsShown(page, 'spout network create direct', asAdministrator)
    await balanced(here(), dune)
    const asDora = (command: string) => asAdministrator(`export SPOUT_TOKEN='${dune.token}'\n${command}`)
    await printsAsShown(page, 'spout member create shop echo late', asDora)
    await printsAsShown(page, 'spout explain lb shop', asDora)
    await hasFieldsShown(page, 'spout subnet create net far', asDora)
    await onMembers(here())
    await page.type('spout network create pods')
    await page.type('spout subnet create pods link')
    await routed(here(), await networkIn(here(), 'dune', 'pods'))
    expect(page.left).toEqual([])
  })

  /** Types the next replacement of a network's routes. */
  async function routed({ asAdministrator }: Demo, networkId: string): Promise<void> {
    const { command } = page.take('curl -s -X PUT')
    const { stdout } = await asAdministrator(`NETWORK_ID=${networkId}\n${command}`)
    const { routes: wanted } = JSON.parse(/-d '(.*)'$/s.exec(command)![1]!) as { readonly routes: readonly object[] }
    expect(JSON.parse(stdout)).toMatchObject({ id: networkId, routes: wanted })
  }

  /** What a member needs to hold a VIP, and to be reached through a tunnel: both ends of it are in the kernel. */
  async function onMembers({ lab }: Demo): Promise<void> {
    const { left } = page
    const roots = left.filter((command) => /^(sysctl|ip) /.test(command))
    expect(roots.length).toBe(7)
    for (const beginning of roots) {
      const { command } = page.take(beginning)
      // Its router is elsewhere in the lab.
      const here = command.replace('10.8.1.1 ', '10.0.0.1 ')
      await lab.must('tenant-a-member2', ['sh', '-c', here])
    }
    expect(await lab.must('tenant-a-member2', ['ip', '-d', 'link', 'show', 'dev', 'spout0'])).toContain('vxlan id 3')
  }
}

/** The id of a project's network. */
async function networkIn({ asAdministrator }: Demo, project: string, name = 'net'): Promise<string> {
  const { stdout } = await asAdministrator(`spout network show ${name} --project ${project} -o json`)
  return (JSON.parse(stdout) as { readonly id: string }).id
}

/** A load balancer with TCP echo on the members' own port. */
async function balanced(demo: Demo, dune: Tenant): Promise<void> {
  const member = (index: number) => ({ name: `member${index}`, address: `10.0.0.${10 + index}`, port: 9000 })
  await callApi(demo.access.endpoint, dune.token, 'POST', '/load-balancers', {
    ...{ name: 'shop', vips: [{ from: 'pool', poolId: await publicPool(demo) }] },
    pools: [{ name: 'echo', protocol: 'tcp', members: [member(1), member(2)] }],
    listeners: [{ name: 'echo', protocol: 'tcp', port: 9000, defaultPool: 'echo' }],
  })
}
