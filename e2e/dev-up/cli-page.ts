import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { callApi, TypedPage, waitFor } from '@spout/testkit'
import { expect, it } from 'vitest'
import { fieldsOf, hasFieldsShown, printsAsShown } from './as-shown.ts'
import { active, type Demo, named, publicPool } from './demo.ts'

const LONG_MS = 240_000

/** What docs/cli.md says to type, typed after `./dev up`. */
export function cliPage(here: () => Demo): void {
  const page = new TypedPage('cli.md', (command, input) => here().asTenant(command, input))

  it('cli.md: from nothing to traffic, what is shown of it, and what is refused', { timeout: LONG_MS }, async () => {
    const { asAdministrator, asTenant, directory } = here()
    for (const file of ['.zfunc', '.config/fish/completions'])
      mkdirSync(path.join(directory, file), { recursive: true })
    for (const shell of ['source <(spout completion bash)', 'spout completion zsh', 'spout completion fish'])
      await page.type(shell)
    expect(readFileSync(path.join(directory, '.zfunc/_spout'), 'utf8')).toContain('#compdef spout')
    await page.type('export SPOUT_ENDPOINT=')
    page.leaveOut('spout lb list', 'its control planes are elsewhere: packages/client/src/ask.test.ts')

    const made = ['lb create api', 'listener create api', 'pool create api', 'member create api']
    for (const beginning of made) await hasFieldsShown(page, `./dev spout ${beginning}`, asTenant)
    const second = await asTenant('./dev spout member create api backends two --address 10.0.0.12 --port 9999')
    expect(second).toMatchObject({ code: 0 })
    await printsAsShown(page, './dev spout lb list', asTenant)
    await printsAsShown(page, './dev spout member list api', asTenant)
    await printsAsShown(page, './dev spout member set shop', asTenant)
    await printsAsShown(page, './dev spout pool set shop', asTenant)
    await printsAsShown(page, './dev spout listener set shop', asTenant)

    await printsAsShown(page, './dev spout explain lb api', asTenant)
    const site = await routedSite(here())
    const request = page.take('./dev spout explain request')
    const explained = await asTenant(request.command.replace(/198\.51\.100\.\d+/, site))
    expect(explained.stdout.trim().split('\n').slice(2)).toEqual(request.printed.slice(2))

    await page.type('./dev spout lb show api -o yaml > api.yaml')
    const { code } = await asTenant(page.take('$EDITOR api.yaml').command.replace('$EDITOR', EDITOR))
    expect(code).toBe(0)
    await printsAsShown(page, './dev spout plan --dry-run', asAdministrator)

    await hasFieldsShown(page, './dev spout lb list -o wide', asAdministrator)
    const names = page.take('./dev spout lb list -o name')
    const { stdout: said } = await asAdministrator(names.command)
    expect(said.trim().split('\n')).toEqual(expect.arrayContaining([...names.printed]))
    await watched(page, here())
    await hasFieldsShown(page, './dev spout top --once', asAdministrator)
    await hasFieldsShown(page, './dev spout lb stats shop', asTenant)

    const refused = ['listener create shop', 'member create shop', 'member create shop', 'lb show nosuch']
    for (const beginning of refused) await printsAsShown(page, `./dev spout ${beginning}`, asTenant)
    for (const beginning of ['network show net', 'lb craete x'])
      await printsAsShown(page, `./dev spout ${beginning}`, asAdministrator)
    const forbidden = page.take('eval "$(./dev env)"; ./dev spout node list')
    // The last line is of `./dev` itself: tools/dev/spout.test.ts.
    const { stderr } = await asAdministrator(forbidden.command)
    expect(stderr.trim().split('\n')).toEqual(forbidden.printed.slice(0, -1))
  })

  it('cli.md: what operators type', { timeout: LONG_MS }, async () => {
    const { asAdministrator } = here()
    const typed = (beginning: string) => hasFieldsShown(page, beginning, asAdministrator)
    const as = (beginning: string) => printsAsShown(page, beginning, asAdministrator)
    await typed('spout node-group create edge')
    for (const noun of ['node-group set edge', 'bgp-peer create tor ', 'bgp-peer create tor-a', 'bgp-peer list'])
      await as(`spout ${noun}`)
    for (const noun of ['bgp-peer create tor-b', 'bgp-advertisement create', 'bgp-advertisement list'])
      await as(`spout ${noun}`)
    page.leaveOut('spout doctor', 'a node is away there: apps/cli/src/commands/doctor/doctor.contract.test.ts')
    for (const noun of ['node list', 'vip list']) await typed(`./dev spout ${noun}`)
    const history = page.take('./dev spout vip history')
    const shop = (await named(here(), 'shop')).vips[0]!.address
    const moves = await asAdministrator(history.command.replace(/[\d.]+$/, shop))
    expect(moves.stdout.split('\n')[0]!.split(/ +/)).toEqual(history.printed[0]!.split(/ +/))
    await as('./dev spout network list')
    await as('./dev spout address-pool list')
    for (const noun of ['project create demo', 'network create demo-net', 'token create node3', 'user create erin'])
      await typed(`./dev spout ${noun}`)
    expect(await asAdministrator('spout network delete demo-net')).toMatchObject({ code: 0 })
    await as('./dev spout user delete erin')
    await typed('./dev spout quota set acme')
    expect(page.left).toEqual([])
  })
}

/** Changes the second member's weight, as somebody does in an editor. */
const EDITOR = `sed -i '/name: two/,/weight:/ s/weight: 1/weight: 3/'`

/** A load balancer with the routes of the page, none of whose members of `front` answers. @returns its address */
async function routedSite(demo: Demo): Promise<string> {
  const { access, tenant } = demo
  const path = (value: string, compare = 'elements') => ({ on: 'path', compare, values: [value] })
  const header = { on: 'header', name: 'x-beta', compare: 'exact', values: ['1'] }
  const host = { on: 'host', compare: 'exact', values: ['shop.example.com'] }
  const forward = (...pools: readonly object[]) => ({ type: 'forward', pools })
  const member = (name: string, address: string, weight = 1) => ({ name, address, port: 80, weight })
  const api = <T>(method: string, where: string, body: object): Promise<T> =>
    callApi<T>(access.endpoint, tenant.token, method, where, body)
  await api('POST', '/load-balancers', {
    ...{ name: 'web', vips: [{ from: 'pool', poolId: await publicPool(demo) }] },
    pools: [
      {
        ...{ name: 'front', protocol: 'http', monitor: { type: 'tcp', intervalMs: 500, timeoutMs: 400, fall: 1 } },
        members: [member('front-1', '10.0.0.11', 3), member('front-2', '10.0.0.12'), member('front-3', '10.0.0.99')],
      },
      { name: 'api', protocol: 'http', members: [member('api-1', '10.0.0.12')] },
    ],
    listeners: [
      {
        ...{ name: 'web', protocol: 'http', port: 80, defaultPool: 'front' },
        routes: [
          { name: 'admin', conditions: [path('/admin')], action: { type: 'respond', code: 403 } },
          { name: 'beta cart', conditions: [header, path('/cart')], action: forward({ pool: 'api', weight: 1 }) },
          {
            name: 'cart',
            conditions: [path('/cart')],
            action: forward({ pool: 'front', weight: 9 }, { pool: 'api', weight: 1 }),
          },
          { name: 'all of example.com', conditions: [host], action: forward({ pool: 'front', weight: 1 }) },
          { name: 'old', enabled: false, conditions: [path('/old')], action: { type: 'respond', code: 410 } },
        ],
      },
    ],
  })
  const shown = await waitFor(
    async () => {
      const now = await active(demo, 'web')
      const down = Object.values(now.status.members).filter(({ health }) => health === 'down')
      return down.length >= 3 && now
    },
    { what: 'the members of front to be found down' },
  )
  return shown.vips[0]!.address
}

/** `--watch` prints the list again when a member is taken away, until it is interrupted. */
async function watched(page: TypedPage, { asTenant, directory }: Demo): Promise<void> {
  const { command, printed } = page.take('./dev spout lb list --watch')
  const file = (name: string): string => path.join(directory, name)
  const watching = asTenant(`${command} > watched & echo $! > watching; wait`)
  const lists = (): string => (existsSync(file('watched')) ? readFileSync(file('watched'), 'utf8') : '')
  const told = (members: string) => waitFor(() => lists().includes(members), { what: `a list with ${members}` })
  try {
    await told('1 of 2')
    expect(await asTenant('./dev spout member delete api backends two')).toMatchObject({ code: 0 })
    await told('1 of 1')
  } finally {
    process.kill(Number(readFileSync(file('watching'), 'utf8')))
    await watching
  }
  expect(fieldsOf(lists())).toEqual(fieldsOf(printed.join('\n')))
}
