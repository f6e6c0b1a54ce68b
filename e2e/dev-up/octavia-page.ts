import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { issueCertificate, TypedPage, waitFor } from '@spout/testkit'
import { expect, it } from 'vitest'
import { DEMO_TENANTS } from '../../tools/dev/story/tenant.ts'
import { printsAsShown } from './as-shown.ts'
import { active, type Demo, named } from './demo.ts'

const LONG_MS = 300_000

/** What docs/octavia.md says to type, typed with Debian's client after `./dev up`. */
export function octaviaPage(here: () => Demo): void {
  const page = new TypedPage('octavia.md', (command, input) => here().asTenant(command, input))

  it('octavia.md: the commands of ./dev up, and what they made', { timeout: LONG_MS }, async () => {
    const { asAdministrator, asTenant } = here()
    const { command, printed } = page.take('./dev env')
    const { stdout } = await asAdministrator(command)
    const variablesOf = (lines: readonly string[]) => lines.map((line) => line.split('=', 1)[0]).sort()
    expect(variablesOf(stdout.trim().split('\n'))).toEqual(variablesOf(printed))
    page.take('eval "$(./dev env)"')
    for (const made of DEMO_TENANTS[0]!.commands)
      expect(page.take(`openstack ${made}`).command).toBe(`openstack ${made}`)
    const list = page.take('openstack loadbalancer list')
    const cells = (line: string | undefined) => line?.split('|').map((cell) => cell.trim())
    const listed = (await asTenant(list.command)).stdout.split('\n')
    const [title, shop] = [list.printed[1], list.printed[3]]
    expect(cells(listed[1])).toEqual(cells(title))
    const own = listed.map(cells).find((row) => row?.[1] === 'shop')
    expect(own?.slice(3)).toEqual(cells(shop)?.slice(3))
    const { said, shown } = await page.type('openstack loadbalancer stats show shop')
    const fields = (table: string) =>
      table
        .trim()
        .split('\n')
        .map((line) => cells(line)?.[1])
    expect(fields(said)).toEqual(fields(shown))
  })

  it('octavia.md: flavors, security groups and floating IPs', { timeout: LONG_MS }, async () => {
    const { asAdministrator, asTenant } = here()
    const asAdmin = async (beginning: string) => {
      const { command } = page.take(beginning)
      const { code, stderr } = await asAdministrator(`eval "$(./dev env)"\n${ADMINISTRATOR(here())}\n${command}`)
      expect({ command, code, stderr }).toMatchObject({ code: 0 })
    }
    await asAdmin('openstack loadbalancer flavorprofile create')
    await asAdmin('openstack loadbalancer flavor create')
    await page.type('openstack loadbalancer create --name fast')

    await page.type('openstack security group create shop-clients')
    await page.type('openstack security group rule create')
    await page.type('openstack port set --security-group shop-clients')
    expect(await named(here(), 'shop')).toMatchObject({ securityGroupIds: [expect.any(String)] })
    const unset = 'openstack port unset --security-group shop-clients'
    const port = '"$(openstack loadbalancer show -f value -c vip_port_id shop)"'
    expect(await asTenant(`${unset} ${port}`)).toMatchObject({ code: 0 })

    const inner = await page.type('openstack loadbalancer create --name inner')
    expect(inner.said.trim().split('\n').sort()).toEqual(inner.shown.split('\n').sort())
    const { said: floating } = await page.type('openstack floating ip create')
    const bind = page.take('openstack floating ip set')
    const bound = await asTenant(bind.command.replace(/[\d.]+$/, floating.trim()))
    expect(bound).toMatchObject({ code: 0 })
    const list = page.take('./dev spout lb list')
    const { stdout } = await asTenant(list.command)
    expect(stdout).toMatch(new RegExp(`^inner +10\\.0\\.0\\.\\d+, ${floating.trim().replaceAll('.', '\\.')} `, 'm'))
    expect(list.printed.at(-1)).toMatch(/^inner +10\.0\.0\.\d+, 198\.51\.100\.\d+ /)
  })

  it('octavia.md: HTTPS, figures, policies and refusals', { timeout: LONG_MS }, async () => {
    const { asTenant, directory, lab } = here()
    const { certificate, key } = issueCertificate({ names: ['shop.example.com'] })
    writeFileSync(path.join(directory, 'shop.crt'), certificate)
    writeFileSync(path.join(directory, 'shop.key'), key)
    await site(here())
    await page.type('spout certificate create shop')
    const id = page.take('ID=$(').command
    const secure = page.take('openstack loadbalancer listener create --name secure')
    expect(await asTenant(`${id}\n${secure.command}`)).toMatchObject({ code: 0 })
    await page.type('openstack loadbalancer listener create --protocol PROMETHEUS')
    const figures = page.take('curl -s http://')
    const vip = (await active(here(), 'site')).vips[0]!.address
    const asked = figures.command.replace(/198\.51\.100\.\d+/, vip)
    const names = (lines: readonly string[]) => lines.map((line) => line.replace(/\{.*/, ''))
    const wanted = names(figures.printed)
    await waitFor(
      async () => {
        await lab.run('client', ['curl', '-s', '--max-time', '5', `http://${vip}/`])
        const { stdout } = await lab.run('client', ['sh', '-c', asked])
        return wanted.every((name) => names(stdout.split('\n')).includes(name))
      },
      { what: `the figures that the page shows: ${wanted.join('; ')}` },
    )
    await page.type('openstack loadbalancer l7policy create --name cart')
    await page.type('openstack loadbalancer l7rule create')
    expect(await asTenant('openstack loadbalancer l7rule list cart -f value -c value')).toMatchObject({
      stdout: '/cart\n',
    })
    await printsAsShown(page, 'openstack loadbalancer l7policy create --action REJECT', asTenant)
    page.leaveOut('./dev up --bare', 'apps/control-plane/src/noop-clients.contract.test.ts starts one')
    page.leaveOut('eval "$(./dev env --admin)"', 'it belongs to it')
    page.leaveOut('openstack loadbalancer list', 'it belongs to it')
    page.leaveOut('spout conformance', 'it takes a minute: e2e/conformance.e2e.test.ts')
    expect(page.left).toEqual([])
  })
}

/** Lines that log the OpenStack client in as the administrator. */
const ADMINISTRATOR = ({ access }: Demo): string =>
  `export OS_USERNAME='${access.admin.user}' OS_PASSWORD='${access.admin.password}' OS_PROJECT_NAME='${access.admin.project}'`

/** The HTTP load balancer that the rest of the page changes. */
async function site(demo: Demo): Promise<void> {
  for (const command of [
    'spout lb create site --pool public',
    'spout pool create site web --protocol http',
    'spout pool create site cart --protocol http',
    'spout member create site web one --address 10.0.0.11 --port 8080',
    'spout listener create site www --protocol http --port 80 --default-pool web',
  ])
    expect(await demo.asTenant(command)).toMatchObject({ code: 0 })
  await named(demo, 'site')
}
